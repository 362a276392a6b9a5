import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};

type Bytes = Uint8Array<ArrayBuffer>;
export type BuiltFile = { body: Bytes; type: string; compressed(encoding: Encoding): Promise<Bytes> };
export type Encoding = 'br' | 'gzip';

/** Loads the built page into memory. The page is small, and this way requests cannot reach any other file. */
export function loadFiles(folder: string): Map<string, BuiltFile> {
  const files = new Map<string, BuiltFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length).replaceAll('\\', '/');
    files.set(name, fileOf(readFileSync(path), CONTENT_TYPES[extname(name)] ?? 'application/octet-stream'));
  }
  return files;
}

function fileOf(content: Buffer, type: string): BuiltFile {
  const body = new Uint8Array(content);
  const cache = new Map<Encoding, Promise<Bytes>>();
  return {
    body,
    type,
    compressed: (encoding) => {
      const result = cache.get(encoding) ?? compress(body, encoding);
      cache.set(encoding, result);
      return result;
    },
  };
}

async function compress(body: Bytes, encoding: Encoding): Promise<Bytes> {
  const compressed =
    encoding === 'gzip'
      ? await promisify(gzip)(body, { level: 9 })
      : await promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } });
  return new Uint8Array(compressed);
}

/** Returns the best encoding that the browser accepts, or null. */
export function encodingFor(request: Request): Encoding | null {
  const accepted = request.headers.get('accept-encoding') ?? '';
  if (/\bbr\b/.test(accepted)) return 'br';
  return /\bgzip\b/.test(accepted) ? 'gzip' : null;
}
