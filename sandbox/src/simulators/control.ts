import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { readBody } from './body.ts';

const BODY_LIMIT = 1_048_576;

/** A refusal that the caller of a control sees, under the codes of the API. */
export class ControlError extends Error {
  readonly code: string;
  readonly details: Record<string, unknown>;
  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'ControlError';
    this.code = code;
    this.details = details;
  }
}

type Handler = (input: unknown) => Promise<unknown>;

/** Where the simulated providers put the calls by which the service's sandbox routes move them. */
export type Control = {
  on<Schema extends TSchema>(
    name: string,
    schema: Schema,
    handle: (input: Static<Schema>) => Promise<unknown>,
  ): void;
  server: Server;
  /** Tells this process from others that had the same port; `GET /instance` answers it to anyone. */
  instance: string;
};

/** An HTTP server that answers `POST /name` with the secret as bearer token. */
export function createControl(secret: string): Control {
  const handlers = new Map<string, Handler>();
  const expected = Buffer.from(`Bearer ${secret}`);
  const instance = randomUUID();
  return {
    instance,
    on: (name, schema, handle) => {
      handlers.set(`/${name}`, async (input) => {
        if (Check(schema, input)) return handle(input as Static<typeof schema>);
        const [first] = Errors(schema, input)[1];
        throw new ControlError(
          'validation_failed',
          `${first?.instancePath ?? ''} ${first?.message ?? 'is wrong'}`,
        );
      });
    },
    server: createServer((request, response) => {
      if (request.url === '/instance') return response.end(instance);
      answer(handlers, expected, request, response).catch((error) =>
        reply(response, 500, failure('internal_error', error)),
      );
    }),
  };
}

async function answer(
  handlers: Map<string, Handler>,
  expected: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const given = Buffer.from(request.headers.authorization ?? '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return reply(response, 401, { code: 'unauthorized', message: 'wrong secret', details: {} });
  }
  const handle = handlers.get(request.url ?? '');
  const body = await readBody(request, BODY_LIMIT);
  if (!handle || body === undefined)
    return reply(response, 404, { code: 'not_found', message: 'no such control', details: {} });
  try {
    reply(response, 200, (await handle(JSON.parse(body || '{}'))) ?? {});
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    reply(response, 422, { code: error.code, message: error.message, details: error.details });
  }
}

function failure(code: string, error: unknown) {
  return { code, message: error instanceof Error ? error.message : String(error), details: {} };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
