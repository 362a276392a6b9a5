import { createStore, useStore } from '../store.ts';

export type ApprovalRequest =
  | { type: 'message'; text: string }
  | { type: 'allowance'; spender: string; token: string; decimals: number; amount: bigint; chain: string }
  | { type: 'transaction'; to: string; data: string; chain: string };

/** `amount` is the allowance that the owner approved. Set only for `allowance` requests. */
export type Decision = { isApproved: boolean; amount?: bigint };

/** A request that the owner of a test wallet approves or rejects, as they would in a wallet extension. */
export type Approval = {
  id: number;
  wallet: string;
  address: string;
  request: ApprovalRequest;
  decide(decision: Decision): void;
};

const store = createStore<readonly Approval[]>([]);
let lastId = 0;

/** Queues a request for the owner and resolves with their decision. */
export function requestApproval(details: Omit<Approval, 'id' | 'decide'>): Promise<Decision> {
  return new Promise((resolve) => {
    const id = ++lastId;
    const decide = (decision: Decision) => {
      store.set(store.get().filter((one) => one.id !== id));
      resolve(decision);
    };
    store.set([...store.get(), { ...details, id, decide }]);
  });
}

/** Returns the oldest pending approval. */
export function useApproval(): Approval | undefined {
  return useStore(store)[0];
}
