import { redactText } from '../../kernel/log.ts';

/** One result of the doctor. Only `failed` findings make the command fail. */
export type Finding = {
  check: string;
  status: 'ok' | 'warning' | 'failed' | 'skipped';
  finding: string;
  /** What to do; null if there is nothing to do. */
  remedy: string | null;
};

export type Check = { name: string; run(): Promise<Finding[]> };

const CHECK_TIMEOUT_MS = 15_000;
const MAX_TEXT_LENGTH = 300;

export const ok = (check: string, finding: string): Finding => ({
  ...{ check, status: 'ok', finding, remedy: null },
});
export const skipped = (check: string, finding: string): Finding => ({
  ...{ check, status: 'skipped', finding, remedy: null },
});
export const warning = (check: string, finding: string, remedy: string): Finding => ({
  ...{ check, status: 'warning', finding, remedy },
});
export const failed = (check: string, finding: string, remedy: string): Finding => ({
  ...{ check, status: 'failed', finding, remedy },
});

/** A message with which a node would refuse to start: the part after the first semicolon is the remedy. */
export function refusalFinding(check: string, message: string): Finding {
  const [, finding = message, first = '', rest = ''] = /^(.*?); (.)(.*?)\.?$/s.exec(message) ?? [];
  return failed(check, finding, first === '' ? 'Fix the setting.' : `${first.toUpperCase()}${rest}.`);
}

/** An error or a timeout becomes a finding, so that the findings of the other checks are still reported. */
export async function runCheck({ name, run }: Check, timeoutMs = CHECK_TIMEOUT_MS): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Finding[]>((resolve) => {
    const finding = failed(
      name,
      `no result within ${timeoutMs / 1000} s`,
      'Check the network and the firewall.',
    );
    timer = setTimeout(() => resolve([finding]), timeoutMs);
  });
  try {
    return await Promise.race([run(), timeout]);
  } catch (error) {
    return [
      failed(name, describeError(error), 'Check the setting, and check that the other side is running.'),
    ];
  } finally {
    clearTimeout(timer);
  }
}

/** Describes an error without URLs, because their paths and credentials may be secret. */
export function describeError(error: unknown): string {
  const { code, message, errors } = error as { code?: unknown; message?: string; errors?: unknown[] };
  // If a host has several addresses, Node reports the failed connections as one error without a message.
  const [first] = errors ?? [];
  if (!message && first !== undefined) return describeError(first);
  const line = String(message || error).split('\n')[0] ?? '';
  const text = redactText(line.replace(/\b[a-z]+:\/\/\S+/gi, 'the URL'));
  const shown = text.slice(0, MAX_TEXT_LENGTH);
  return typeof code === 'string' && !shown.includes(code) ? `${shown} (${code})` : shown;
}
