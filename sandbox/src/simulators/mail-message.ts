export type ParsedMessage = {
  subject: string;
  text: string;
  html: string | null;
  /** The URL in `List-Unsubscribe` (RFC 2369). */
  unsubscribe_url: string | null;
};

/**
 * Parses a message (RFC 5322) with a text part and at most one HTML alternative. `raw` holds one byte per character.
 */
export function parseMessage(raw: string): ParsedMessage {
  const { headers, body } = splitPart(raw);
  const boundary = /^multipart\/alternative;.*boundary="([^"]+)"/i.exec(
    headers.get('content-type') ?? '',
  )?.[1];
  const parts = boundary === undefined ? [raw] : splitParts(body, boundary);
  const contents = parts.map(readContent);
  return {
    subject: decodeWords(headers.get('subject') ?? ''),
    text: contents.find(({ isHtml }) => !isHtml)?.text ?? '',
    html: contents.find(({ isHtml }) => isHtml)?.text ?? null,
    unsubscribe_url: /<([^>]+)>/.exec(headers.get('list-unsubscribe') ?? '')?.[1] ?? null,
  };
}

function splitPart(raw: string): { headers: Map<string, string>; body: string } {
  const split = raw.indexOf('\r\n\r\n');
  if (split < 0) return { headers: readHeaders(raw), body: '' };
  return { headers: readHeaders(raw.slice(0, split)), body: raw.slice(split + 4) };
}

/** Splits a multipart body (RFC 2046). The line break before a boundary belongs to the boundary. */
function splitParts(body: string, boundary: string): string[] {
  const [, ...parts] = `\r\n${body}`.split(`\r\n--${boundary}`);
  return parts.filter((part) => !part.startsWith('--')).map((part) => part.slice(2));
}

function readContent(raw: string): { isHtml: boolean; text: string } {
  const { headers, body } = splitPart(raw);
  const type = headers.get('content-type') ?? '';
  const plain = decodeBody(body, headers.get('content-transfer-encoding')?.toLowerCase() ?? '7bit');
  const text = plain.toString('utf8').replaceAll('\r\n', '\n');
  return {
    isHtml: /^text\/html/i.test(type),
    text: /format=flowed/i.test(type) ? text.replace(/ \n/g, ' ') : text,
  };
}

function readHeaders(block: string): Map<string, string> {
  const unfolded = block.replace(/\r\n[ \t]+/g, ' ');
  return new Map(
    unfolded.split('\r\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function decodeBody(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding === 'quoted-printable') return decodeQuoted(body.replace(/=\r\n/g, ''));
  return Buffer.from(body, 'latin1');
}

function decodeQuoted(text: string): Buffer {
  return Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/** Decodes encoded words (RFC 2047), which carry non-ASCII text in headers. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      (kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64')
        : decodeQuoted(word.replaceAll('_', ' '))
      ).toString('utf8'),
    );
}
