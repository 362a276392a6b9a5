/** The sanctions list in use. `domain/screening/list.ts` loads it. */
export type Sanctions = {
  has(address: string): boolean;
  /** Every listed address: EVM in lower case, Solana as written. */
  addresses(): ReadonlySet<string>;
  /** Identifies the list; null if the service runs without one. */
  hash(): string | null;
  /** Reads the file again. If the new list is rejected, the previous list stays in use. */
  reload(): Promise<void>;
  /** Calls `listener` after the list has changed. */
  onChange(listener: () => void): void;
  close(): void;
};

type Screened = { sanctions: Pick<Sanctions, 'has'> };

/**
 * Returns whether the address is on the sanctions list. The service must not send tokens to a listed wallet, take
 * tokens from it or sign anything for it.
 */
export function isSanctioned({ sanctions }: Screened, address: string): boolean {
  return sanctions.has(address);
}
