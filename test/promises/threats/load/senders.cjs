// Holds many bad connections to a server of this machine. Ends with its parent, and at the latest after five minutes.
const { connect } = require("node:net");

const { port, count, head, first, again, times } = JSON.parse(process.argv[2]);
const atATime = 250;

const statuses = {};
let opened = 0;
let ready = 0;
let closed = 0;

function open() {
  opened += 1;
  const socket = connect({ port, host: "127.0.0.1" });
  const repeated = again && Buffer.alloc(again.bytes, again.text);
  let left = times ?? 0;
  /** Continues until the server stops reading. */
  const goOn = () => {
    while (left > 0 && !socket.destroyed) {
      left -= 1;
      if (!socket.write(repeated)) return;
    }
  };
  let isReady = false;
  const settle = () => {
    if (isReady) return;
    isReady = true;
    ready += 1;
    if (opened < count) open();
    if (ready === count) process.send({ ready: count });
  };
  socket.on("connect", () => {
    socket.write(head + first, () => (setImmediate(settle), goOn()));
  });
  socket.on("drain", goOn);
  let said = "";
  socket.on("data", (data) => (said += data.toString("latin1")));
  socket.on("error", () => {});
  socket.on("close", () => {
    settle();
    const status = said.split(" ")[1] ?? "none";
    statuses[status] = (statuses[status] ?? 0) + 1;
    closed += 1;
    if (closed === count) process.send({ closed: statuses });
  });
}

for (let n = 0; n < Math.min(atATime, count); n += 1) open();
process.on("disconnect", () => process.exit());
setTimeout(() => process.exit(1), 300_000).unref();
