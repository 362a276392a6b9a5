import type { IncomingMessage, ServerResponse } from 'node:http';
import { Type } from 'typebox';

export const FAULT_MODES = ['none', 'down', 'slow', 'garbage', 'rate_limited', 'stale'] as const;

/** How a provider fails. Only chains support `stale`; other providers ignore it. */
export type FaultMode = (typeof FAULT_MODES)[number];

export type Fault = {
  set(mode: FaultMode, forSeconds?: number): void;
  mode(): FaultMode;
};

/** The input of the control that sets a simulator's fault, such as `identity/fault`. */
export const FaultInput = Type.Object({
  mode: Type.Enum([...FAULT_MODES]),
  for_seconds: Type.Optional(Type.Number({ minimum: 0 })),
});

const SLOW_DELAY_MS = 30_000;

/** Creates a fault switch. `forSeconds` counts real time, because the sandbox clock may be stopped. */
export function createFault(): Fault {
  let current: FaultMode = 'none';
  let until = Number.POSITIVE_INFINITY;
  return {
    set: (mode, forSeconds) => {
      current = mode;
      until = forSeconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + forSeconds * 1000;
    },
    mode: () => (performance.now() < until ? current : 'none'),
  };
}

/** Applies the fault to a request. Returns false if the caller must serve the request normally. */
export async function applyFault(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  switch (fault.mode()) {
    case 'none':
    case 'stale':
      return false;
    case 'down':
      request.socket.destroy();
      return true;
    case 'slow':
      await delayUnlessClosed(response, SLOW_DELAY_MS);
      return response.destroyed;
    case 'garbage':
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('<html><body>Bad gateway</body></html>');
      return true;
    case 'rate_limited':
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end('{"error":"Too Many Requests","message":"rate limit exceeded"}');
      return true;
  }
}

function delayUnlessClosed(response: ServerResponse, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
