import type { Context } from '../../platform/context/context.ts';
import { deleteExpiredChallenges } from '../proofs/store.ts';

export async function deleteExpiredWalletChallenges({ db, clock }: Context): Promise<void> {
  await deleteExpiredChallenges(db, new Date(clock.now()).toISOString());
}
