import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import { MALFORMED, type Query } from './query-string.ts';

export const MAX_URL_LENGTH = 8 * 1024;

/** Throws if the URL, query or headers of a request cannot be accepted. Applies to every path, known or not. */
export function refuseRequest(request: FastifyRequest): void {
  const { url = '', rawHeaders, headers, httpVersion } = request.raw;
  if (url.length > MAX_URL_LENGTH) throw new ApiError('uri_too_long');
  const hosts = countHosts(rawHeaders);
  // Several Host headers are refused, because proxies and Node disagree about which one counts (RFC 9112
  // §3.2).
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    throw new ApiError('malformed_request', {}, { message: 'A request must have exactly one Host header.' });
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new ApiError('unsupported_media_type', {}, { message: 'Compressed bodies are not supported.' });
  if ((request.query as Query)[MALFORMED])
    throw new ApiError('malformed_request', {}, { message: 'The query could not be parsed.' });
}

/** Counts the Host headers in the raw headers, because Node keeps only the first one in `headers`. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
