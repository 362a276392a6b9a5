import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../kernel/errors.ts';
import { parseForm } from './query-string.ts';
import { parseStrictJson } from './strict-json.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Parses JSON bodies on every route, and forms on routes with `forms`. A route with `rawBody` gets the unparsed bytes.
 */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      if (request.routeOptions.config.rawBody === true) return done(null, body);
      done(null, body.length === 0 ? undefined : parseStrictJson(body));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.routeOptions.config.forms !== true) return done(new ApiError('unsupported_media_type'));
    const form = parseForm(body);
    if (form === null)
      return done(new ApiError('malformed_request', {}, { message: 'The form could not be parsed.' }));
    request.isForm = true;
    done(null, form);
  });
}
