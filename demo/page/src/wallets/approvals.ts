import { createStore, useStore } from '../store.ts';

/** What the owner of a test wallet is asked, as an extension would ask. */
export type Approval = {
  id: number;
  wallet: string;
  address: string;
  kind:
    | { is: 'message'; text: string }
    | { is: 'allowance'; spender: string; token: string; decimals: number; amount: bigint; chain: string }
    | { is: 'transaction'; to: string; data: string; chain: string };
  /** The amount is that of an allowance, which the owner may change. */
  answer(decision: { isApproved: boolean; amount?: bigint }): void;
};

const store = createStore<readonly Approval[]>([]);
let last = 0;

export type Decision = { isApproved: boolean; amount?: bigint };

export function askOwner(asked: Omit<Approval, 'id' | 'answer'>): Promise<Decision> {
  return new Promise((done) => {
    const id = ++last;
    const answer = (decision: Decision) => {
      store.set(store.get().filter((one) => one.id !== id));
      done(decision);
    };
    store.set([...store.get(), { ...asked, id, answer }]);
  });
}

/** One after the other. */
export function useApproval(): Approval | undefined {
  return useStore(store)[0];
}
