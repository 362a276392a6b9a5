import type { Context } from '../context.ts';
import { deleteExpiredChallenges } from './store.ts';

export async function deleteExpiredWalletChallenges({ db, clock }: Context): Promise<void> {
  await deleteExpiredChallenges(db, new Date(clock.now()).toISOString());
}
