/** A request that arrived as exactly one chunk of data, so that one reply answers the whole chunk. */
export type WholeRequest = {
  method: string;
  url: string;
  /** The headers by their lower-case names. No header occurs twice. */
  headers: ReadonlyMap<string, string>;
};

const MAX_BYTES = 16 * 1024;
/**
 * Matches the request line and the headers. Does not match the methods HEAD and OPTIONS, which need different replies.
 */
const HEAD =
  /^(GET|POST|PATCH|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1\r\n((?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n/;
const LENGTH = /^\d{1,5}$/;

/**
 * Returns the request if the chunk is exactly one plain request, otherwise null. For example, returns null for part of
 * a request, for several requests, or if a header changes where the body ends or whether the connection stays open. May
 * be stricter than an HTTP parser, because chunks that are rejected here go to Node's parser.
 */
export function readWholeRequest(chunk: Buffer): WholeRequest | null {
  if (chunk.length > MAX_BYTES) return null;
  const text = chunk.toString('latin1');
  const [head, method, url, lines] = HEAD.exec(text) ?? [];
  if (head === undefined || method === undefined || url === undefined || lines === undefined) return null;
  const headers = new Map<string, string>();
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf('\r\n', start);
    const colon = lines.indexOf(':', start);
    const name = lines.slice(start, colon).toLowerCase();
    if (headers.has(name)) return null;
    headers.set(name, lines.slice(colon + 1, end).trim());
    start = end + 2;
  }
  const length = headers.get('content-length') ?? '0';
  const isPlain =
    !headers.has('transfer-encoding') &&
    !headers.has('expect') &&
    !headers.has('upgrade') &&
    (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive';
  if (!isPlain || !LENGTH.test(length) || head.length + Number(length) !== text.length) return null;
  return { method, url, headers };
}
