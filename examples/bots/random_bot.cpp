// A bot that plays at random by JSON lines, in any game without hidden information: docs/engines.md has the protocol.
//
//   g++ -O2 -o random_bot examples/bots/random_bot.cpp
//   turnier play connect_four 'json(command="./random_bot")' "mcts(iterations=200)" --show
//
// Two patterns find what it needs: inside JSON's strings quotation marks have a backslash, so these match no text.

#include <iostream>
#include <random>
#include <regex>
#include <string>
#include <vector>

int main() {
    const std::regex type("\"type\"\\s*:\\s*\"(\\w+)\""), legal("\"legal\"\\s*:\\s*\\["), number("\\d+");
    std::mt19937 random(std::random_device{}());
    std::string line;
    while (std::getline(std::cin, line)) {
        std::smatch found;
        if (!std::regex_search(line, found, type)) continue;
        const std::string said = found[1];
        if (said == "hello") {
            std::cout << "{\"type\": \"ready\", \"protocol\": 1}" << std::endl;
        } else if (said == "move" && std::regex_search(line, found, legal)) {
            const auto begin = found[0].second, end = begin + found.suffix().str().find(']');
            std::vector<std::string> actions;
            for (std::sregex_iterator each(begin, end, number), none; each != none; ++each) actions.push_back(each->str());
            const auto chosen = std::uniform_int_distribution<std::size_t>(0, actions.size() - 1)(random);
            std::cout << "{\"action\": " << actions[chosen] << "}" << std::endl;
        } else if (said == "quit") {
            break;
        }
    }
}
