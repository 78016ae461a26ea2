// A bot that plays at random by JSON lines, in any game without hidden information: docs/engines.md has the protocol.
//
//   turnier play connect_four 'json(command="node examples/bots/random_bot.js")' "mcts(iterations=200)" --show

const lines = require("readline").createInterface({ input: process.stdin });
const write = (message) => process.stdout.write(JSON.stringify(message) + "\n");

lines.on("line", (line) => {
  const message = line.trim() ? JSON.parse(line) : {};
  if (message.type === "hello") {
    write({ type: "ready", protocol: 1 });
  } else if (message.type === "move") {
    write({ action: message.legal[Math.floor(Math.random() * message.legal.length)] });
  } else if (message.type === "quit") {
    process.exit(0);
  }
});
