import { requestText, type webhookFor } from "./wire.js";

type Webhook = ReturnType<typeof webhookFor>;
/** The problem of a request, and its text. */
type Hostile = [name: string, text: string];

const chunked = "Transfer-Encoding: chunked";
const last = "0\r\n\r\n";

/**
 * Requests that two parsers would split differently, or that cannot be parsed, each around or before a signed webhook that must
 * not be found. The name has the advisory where a parser once found it.
 */
export function conflicts({ type, signature, length, body, request }: Webhook): Hostile[] {
  const hiding = (...headers: string[]) => requestText([type, ...headers], `${last}${request}`);
  const size = body.length.toString(16);
  const inChunks = (text: string, ...headers: string[]) => requestText([type, chunked, ...headers], text);
  const chunk = (sized: string) => `${sized}\r\n${body}\r\n`;
  return [
    ["a length and chunks", hiding("Content-Length: 5", chunked)],
    ["chunks and a length", hiding(chunked, "Content-Length: 5")],
    ["a signed body with a length and chunks", requestText([type, signature, length, chunked], body)],
    ["a coding that looks like chunked", hiding("Transfer-Encoding: xchunked")],
    ["chunked that is not the last coding (CVE-2022-32213)", hiding("Transfer-Encoding: chunked, identity")],
    ["chunked in quotes", hiding('Transfer-Encoding: "chunked"')],
    ["chunked after a vertical tab", hiding("Transfer-Encoding:\u000bchunked")],
    [
      "a space after the coding's name (CVE-2019-15605)",
      hiding("Transfer-Encoding : chunked", "Content-Length: 5"),
    ],
    ["a coding on two lines (CVE-2022-32215)", hiding("Transfer-Encoding:\r\n chunked", "Content-Length: 5")],
    ["two codings, one unknown", hiding(chunked, "Transfer-Encoding: cow")],
    [
      "a space before the length (CVE-2024-27982)",
      hiding("X: y\r\n Content-Length: 5", "Content-Length: 300"),
    ],
    ["two lengths that differ", hiding("Content-Length: 5", "Content-Length: 300")],
    ["a list of lengths", hiding("Content-Length: 5, 5")],
    ["a length with a sign", hiding("Content-Length: +5")],
    ["a length below zero", hiding("Content-Length: -1")],
    ["a hexadecimal length", hiding("Content-Length: 0x5")],
    ["a length with an exponent", hiding("Content-Length: 5e0")],
    ["a length with a space in it", hiding("Content-Length: 5 5")],
    ["an empty length", hiding("Content-Length:")],
    ["a length beyond all integers", hiding("Content-Length: 99999999999999999999999")],
    [
      "lines that end with CR alone (CVE-2023-30589)",
      requestText([`X: y\r${signature}`, type, "Content-Length: 0"]),
    ],
    ["lines that end with LF alone (CVE-2022-32214)", request.replaceAll("\r\n", "\n")],
    ["one line that ends with LF alone", requestText([type, `X: y\n${signature}`, length], body)],
    ["a NUL in a header", requestText([type, "X: a\0b", length, signature], body)],
    ["a NUL in a header's name", requestText([type, "X\0: a", length, signature], body)],
    ["a header without a colon", requestText([type, "X", length, signature], body)],
    ["a header without a name", requestText([type, ": x", length, signature], body)],
    ["a space in a header's name", requestText([type, "X Y: z", length, signature], body)],
    ["no host", request.replace("Host: shop\r\n", "")],
    ["an unknown version", request.replace("HTTP/1.1", "HTTP/1.7")],
    ["the preface of HTTP/2", `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${request}`],
    ["the start of TLS", `\u0016\u0003\u0001\u0002\u0000\u0001\u0000${request}`],
    ["an unknown method", request.replace("POST", "P\u00d6ST")],
    ["headers of 20 KB", requestText([type, `X: ${"x".repeat(20_000)}`, length, signature], body)],
    ["a query of 20 KB", request.replace("/webhook", `/webhook?${"x".repeat(20_000)}`)],
    ["a space in the path", request.replace("/webhook", "/webhook x")],
    ["a line break in the path", request.replace("/webhook", "/\r\nwebhook")],
    ["a signature on two lines", request.replace("Signature: ", "Signature:\r\n ")],
    ["a chunk size that is not a number", inChunks(chunk("zz") + last, signature)],
    ["a chunk size below zero", inChunks(chunk("-1") + last, signature)],
    ["a chunk size with a prefix", inChunks(chunk(`0x${size}`) + last, signature)],
    ["a chunk size after a space", inChunks(chunk(` ${size}`) + last, signature)],
    ["a chunk size beyond all integers", inChunks(chunk("f".repeat(20)) + last, signature)],
    ["no chunk size", inChunks(chunk("") + last, signature)],
    ["a chunk size that is too small", inChunks(chunk("5") + last, signature)],
    ["a chunk size that is too large", inChunks(chunk(`${size}0`) + last, signature)],
    ["a line break in a chunk's extension", inChunks(chunk(`${size};a\nb`) + last, signature)],
    [
      "an endless chunk extension (CVE-2024-22019)",
      inChunks(chunk(`${size};${"a".repeat(20_000)}`) + last, signature),
    ],
    ["no line break after a chunk", inChunks(`${size}\r\n${body}${last}`, signature)],
    ["no last chunk", inChunks(chunk(size), signature)],
    ["the signature in a trailer", inChunks(`${chunk(size)}0\r\n${signature}\r\n\r\n`)],
    [
      "the signature in a trailer that was announced",
      inChunks(`${chunk(size)}0\r\n${signature}\r\n\r\n`, "Trailer: Service-Signature"),
    ],
    ["a line break in a trailer", inChunks(`${chunk(size)}0\r\nX: y\n\n${request}`)],
  ];
}

/** Correct requests with a signed webhook as their body. Content of a body is never a request. */
export function bodies({ type, signature, request }: Webhook): Hostile[] {
  const enclosed = (start: string, ...headers: string[]) =>
    requestText([...headers, `Content-Length: ${request.length}`], request, start);
  const webhook = "POST /payments/webhook HTTP/1.1";
  return [
    ["a GET of the webhook address around one", enclosed("GET /payments/webhook HTTP/1.1")],
    ["a DELETE of it", enclosed("DELETE /payments/webhook HTTP/1.1", type)],
    ["an OPTIONS of it", enclosed("OPTIONS /payments/webhook HTTP/1.1", type)],
    ["an OPTIONS of everything", enclosed("OPTIONS * HTTP/1.1")],
    ["another type around one", enclosed(webhook, "Content-Type: text/plain")],
    ["an encoding around one", enclosed(webhook, type, "Content-Encoding: gzip")],
    ["a signature only inside of the body", enclosed(webhook, type)],
    ["the signature of its body", enclosed(webhook, type, signature)],
    ["a return around one", enclosed("GET /payments/success/x HTTP/1.1")],
    ["a return that is posted", enclosed("POST /payments/cancel/x HTTP/1.1", type)],
    ["an address that does not exist", enclosed("POST /payments/none HTTP/1.1", type)],
    ["an upgrade to HTTP/2", enclosed(webhook, type, "Connection: Upgrade", "Upgrade: h2c")],
    [
      "an upgrade by GET",
      enclosed("GET /payments/webhook HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket"),
    ],
    ["a tunnel", enclosed("CONNECT shop:443 HTTP/1.1")],
    ["an expectation that cannot be met", enclosed(webhook, type, "Expect: 200-ok")],
  ];
}
