/** The sanctions list in use. `screening/list.ts` loads it. */
export type Sanctions = {
  has(address: string): boolean;
  /** Every listed address: EVM in lower case, Solana as written. */
  addresses(): ReadonlySet<string>;
  /** Identifies the list; null if the service runs without one. */
  hash(): string | null;
  /** Rereads the file. Keeps the previous list if the new file is refused. */
  reload(): Promise<void>;
  /** Calls `listener` after the list has changed. */
  onChange(listener: () => void): void;
  close(): void;
};

type Screened = { sanctions: Pick<Sanctions, 'has'> };

/**
 * Returns whether the address is on the sanctions list. Nothing may be sent to, signed for or taken from such a wallet.
 */
export function isSanctioned({ sanctions }: Screened, address: string): boolean {
  return sanctions.has(address);
}
