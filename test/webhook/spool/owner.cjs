// A process that owns a segment. Its parent sends it what to append, and gets a message for each acknowledgement.
const fs = require("node:fs/promises");
const [, , modules, directory] = process.argv;
const { openSpool } = require(`${modules}/webhook/spool/spool.js`);

let stopAfterSync = false;
let spool;

/** Opens a file whose next datasync stops the process after it, if the parent asked for it. */
async function open(...args) {
  const handle = await fs.open(...args);
  const datasync = handle.datasync.bind(handle);
  handle.datasync = async () => {
    await datasync();
    if (!stopAfterSync) return;
    stopAfterSync = false;
    process.kill(process.pid, "SIGSTOP");
  };
  return handle;
}

process.on("message", (message) => {
  spool ??= openSpool({
    directory,
    maxBytes: 2 ** 20,
    fs: { ...fs, open },
    heartbeatMs: 50,
    deadAfterMs: 400,
  });
  if (message.stopAfterSync) stopAfterSync = true;
  const webhook = {
    receiptId: message.append,
    receivedAt: new Date().toISOString(),
    covers: "body",
    rawBody: Buffer.from("{}"),
  };
  void spool.append(webhook).then(
    () => process.send({ acknowledged: message.append }),
    (error) => process.send({ refused: message.append, code: error.code }),
  );
});
