/** Parses a message (RFC 5322) with a single text part. `raw` holds one byte per character. */
export function parseMessage(raw: string): { subject: string; text: string } {
  const split = raw.indexOf('\r\n\r\n');
  const headers = readHeaders(split < 0 ? raw : raw.slice(0, split));
  const body = split < 0 ? '' : raw.slice(split + 4);
  const plain = decodeBody(body, headers.get('content-transfer-encoding')?.toLowerCase() ?? '7bit');
  const isFlowed = /format=flowed/i.test(headers.get('content-type') ?? '');
  const text = plain.toString('utf8').replaceAll('\r\n', '\n');
  return {
    subject: decodeWords(headers.get('subject') ?? ''),
    text: isFlowed ? text.replace(/ \n/g, ' ') : text,
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

/** Decodes encoded words (RFC 2047), the form of non-ASCII text in headers. */
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
