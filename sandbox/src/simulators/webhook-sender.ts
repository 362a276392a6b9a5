import { setTimeout as sleep } from 'node:timers/promises';

/** How deliveries go wrong, to see what the service makes of it. */
export type DeliveryMode = 'normal' | 'duplicate' | 'reorder' | 'corrupt' | 'drop';
export const DELIVERY_MODES = ['normal', 'duplicate', 'reorder', 'corrupt', 'drop'] as const;

export type WebhookSender = {
  target(url: string): void;
  mode(mode: DeliveryMode): void;
  /** Whether the first attempt was accepted; what was not is tried again in the background. */
  send(body: string): Promise<boolean>;
  /** What `reorder` held back, newest first. */
  release(): Promise<void>;
  stop(): void;
};

type Options = {
  headers(body: string): Record<string, string>;
  /** Seconds between the attempts, in the provider's time. */
  ladder: readonly number[];
  accepts(status: number): boolean;
  timeout: number;
};

/** A provider's hours are our seconds, or nobody would see the last attempt. */
const SCALE = 600;

export function createWebhookSender({ headers, ladder, accepts, timeout }: Options): WebhookSender {
  const stopping = new AbortController();
  const held: string[] = [];
  let url: string | null = null;
  let mode: DeliveryMode = 'normal';

  const attempt = async (body: string): Promise<boolean> => {
    if (url === null) return false;
    const sent = mode === 'corrupt' ? body.replace(/\}$/, ' }') : body;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers(body) },
        body: sent,
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeout)]),
      });
      await response.arrayBuffer();
      return accepts(response.status);
    } catch {
      return false;
    }
  };
  const retry = async (body: string): Promise<void> => {
    for (const seconds of ladder) {
      await sleep((seconds * 1000) / SCALE, undefined, { signal: stopping.signal, ref: false });
      if (await attempt(body)) return;
    }
  };
  const deliver = async (body: string): Promise<boolean> => {
    const isAccepted = await attempt(body);
    if (!isAccepted) void retry(body).catch(() => {});
    return isAccepted;
  };
  return {
    target: (next) => {
      url = next;
    },
    mode: (next) => {
      mode = next;
    },
    send: async (body) => {
      if (mode === 'drop') return true;
      if (mode === 'reorder') {
        held.unshift(body);
        return true;
      }
      if (mode === 'duplicate')
        return (await Promise.all([deliver(body), deliver(body), deliver(body)])).every(Boolean);
      return deliver(body);
    },
    release: async () => {
      mode = 'normal';
      for (const body of held.splice(0)) await deliver(body);
    },
    stop: () => stopping.abort(),
  };
}
