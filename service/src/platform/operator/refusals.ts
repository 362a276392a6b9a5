import { Counter, type Registry } from 'prom-client';
import type { Log } from '../../kernel/log.ts';
import { Blocked } from './blocked.ts';

const NAME = 'causeway_signer_refusals_total';

/**
 * Counts every refusal. Settlement repeats a refused request every few seconds, so one is logged only if its message
 * differs from that of the previous one.
 */
export function watchRefusals(
  { log, registry }: { log: Log; registry: Registry },
  address: string,
): <T>(signing: Promise<T>) => Promise<T> {
  const known = registry.getSingleMetric(NAME) as Counter<'reason'> | undefined;
  const refusals =
    known ??
    new Counter({
      name: NAME,
      help: 'Signing requests that a signer refused, by reason.',
      labelNames: ['reason'],
      registers: [registry],
    });
  let last = '';
  return async (signing) => {
    try {
      return await signing;
    } catch (error) {
      if (error instanceof Blocked) {
        refusals.inc({ reason: error.reason });
        if (error.message !== last) log.error({ address, reason: error.reason }, error.message);
        last = error.message;
      }
      throw error;
    }
  };
}
