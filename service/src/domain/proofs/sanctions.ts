import type { Sanctions } from '../../platform/context/ports.ts';

type Screened = { sanctions: Pick<Sanctions, 'has'> };

/**
 * Returns whether the address is on the sanctions list. The service must not send tokens to a listed wallet, take
 * tokens from it or sign anything for it.
 */
export function isSanctioned({ sanctions }: Screened, address: string): boolean {
  return sanctions.has(address);
}
