import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { openPostgresPool } from "../../../../src/store/sql/postgres/pool.js";

/** A message of the PostgreSQL protocol, as servers send it. */
function message(type: string, body: string | Buffer): Buffer {
  const content = Buffer.from(body);
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const authenticated = message("R", Buffer.alloc(4));
const ready = message("Z", "I");
const farewell = message("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");

it("survives a server that ends a connection in the packet in which it becomes ready", async () => {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([authenticated, ready, farewell])));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const pool = await openPostgresPool(`postgres://shop@127.0.0.1:${port}/shop`, 5);
  try {
    const client = await pool.connect();
    await expect(client.query("select 1")).rejects.toBeInstanceOf(Error);
    client.release(true);
  } finally {
    server.close();
    await pool.end();
  }
});
