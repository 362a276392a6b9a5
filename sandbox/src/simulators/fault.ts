import type { IncomingMessage, ServerResponse } from 'node:http';

export const FAULT_MODES = ['none', 'down', 'slow', 'garbage', 'rate_limited', 'stale'] as const;

/** How a provider misbehaves; `stale` only means something to chains. */
export type FaultMode = (typeof FAULT_MODES)[number];

export type Fault = {
  set(mode: FaultMode, forSeconds?: number): void;
  mode(): FaultMode;
};

const SLOW_MILLISECONDS = 30_000;

/** A fault switch. It turns itself off in real time, also while the sandbox clock stands still. */
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

/** Answers in place of the provider; false when the request is to be served as usual. */
export async function misbehave(
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
      await delayUnlessClosed(response, SLOW_MILLISECONDS);
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

function delayUnlessClosed(response: ServerResponse, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
