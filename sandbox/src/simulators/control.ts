import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { isSecret, readBody, sendJson } from './http.ts';

const MAX_BODY_BYTES = 1_048_576;

/**
 * An error that a control (a command to a simulator) throws, with an error code from the service's API. The service
 * returns the error to its caller.
 */
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

/** The server that the service's sandbox routes use to control the simulators. */
export type Control = {
  on<Schema extends TSchema>(
    name: string,
    schema: Schema,
    handle: (input: Static<Schema>) => Promise<unknown>,
  ): void;
  /** Runs the control `name`. Simulators use this to call each other's controls. Throws if no control has this name. */
  call(name: string, input: unknown): Promise<unknown>;
  server: Server;
  /** A random id for this process. `GET /instance` returns the id without authentication. */
  instance: string;
};

/** Creates a server that handles `POST /{name}`. Callers must send the secret as the bearer token. */
export function createControl(secret: string): Control {
  const handlers = new Map<string, Handler>();
  const instance = randomUUID();
  return {
    instance,
    on: (name, schema, handle) => {
      handlers.set(`/${name}`, async (input) => {
        if (Check(schema, input)) return handle(input as Static<typeof schema>);
        const [first] = Errors(schema, input)[1];
        throw new ControlError(
          'validation_failed',
          `${first?.instancePath ?? ''} ${first?.message ?? 'is invalid'}`,
        );
      });
    },
    call: async (name, input) => {
      const handle = handlers.get(`/${name}`);
      if (handle === undefined) throw new Error(`no such control: ${name}`);
      return handle(input);
    },
    server: createServer((request, response) => {
      if (request.url === '/instance') return response.end(instance);
      serve(handlers, `Bearer ${secret}`, request, response).catch((error) =>
        sendError(response, 500, {
          code: 'internal_error',
          message: error instanceof Error ? error.message : String(error),
        }),
      );
    }),
  };
}

async function serve(
  handlers: Map<string, Handler>,
  authorization: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (!isSecret(request.headers.authorization, authorization))
    return sendError(response, 401, { code: 'unauthorized', message: 'wrong secret' });
  const handle = handlers.get(request.url ?? '');
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!handle || body === undefined)
    return sendError(response, 404, { code: 'not_found', message: 'no such control' });
  try {
    sendJson(response, 200, (await handle(JSON.parse(body || '{}'))) ?? {});
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    sendError(response, 422, { code: error.code, message: error.message, details: error.details });
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  { code, message, details = {} }: { code: string; message: string; details?: Record<string, unknown> },
): void {
  sendJson(response, status, { code, message, details });
}
