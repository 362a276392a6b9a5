import { setTimeout as sleep } from 'node:timers/promises';

/** How webhooks are delivered. Every mode except `normal` simulates a delivery problem. */
export const DELIVERY_MODES = ['normal', 'duplicate', 'reorder', 'corrupt', 'drop'] as const;
export type DeliveryMode = (typeof DELIVERY_MODES)[number];

export type WebhookSender = {
  setUrl(url: string): void;
  setMode(mode: DeliveryMode): void;
  /**
   * Sends a webhook (three copies in mode `duplicate`). Resolves to true if every copy was accepted at the first
   * attempt, otherwise to false. Copies that were not accepted are sent again in the background. Also resolves to true
   * if the mode drops the webhook or holds it back.
   */
  send(body: string): Promise<boolean>;
  /** Delivers the webhooks that `reorder` has held back, newest first, and sets the mode to `normal`. */
  release(): Promise<void>;
  stop(): void;
};

type Options = {
  headers(body: string): Record<string, string>;
  /** The provider's delays between attempts, in seconds. */
  retryDelays: readonly number[];
  accepts(status: number): boolean;
  timeoutMs: number;
};

/** Retry delays are divided by this number, so that a delay of ten minutes becomes one second. */
const TIME_SCALE = 600;

export function createWebhookSender({ headers, retryDelays, accepts, timeoutMs }: Options): WebhookSender {
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
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.arrayBuffer();
      return accepts(response.status);
    } catch {
      return false;
    }
  };
  const retry = async (body: string): Promise<void> => {
    for (const seconds of retryDelays) {
      await sleep((seconds * 1000) / TIME_SCALE, undefined, { signal: stopping.signal, ref: false });
      if (await attempt(body)) return;
    }
  };
  const deliver = async (body: string): Promise<boolean> => {
    const isAccepted = await attempt(body);
    if (!isAccepted) void retry(body).catch(() => {});
    return isAccepted;
  };
  return {
    setUrl: (next) => {
      url = next;
    },
    setMode: (next) => {
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
