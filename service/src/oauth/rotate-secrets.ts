import { resealTotpSecrets } from '../accounts/second-factor.ts';
import { keepCheckpointKeys } from '../audit/former-keys.ts';
import { forgetOlderSecrets } from '../db/installation.ts';
import { keepUnsubscribeKeys } from '../notices/unsubscribe.ts';
import type { CommandContext } from '../operations/run-command.ts';
import { rotatePii } from '../pii/rotate.ts';
import { keepOwnerKeys } from '../wallets/owner-hashes.ts';
import { resealEndpointSecrets } from '../webhooks/reseal.ts';
import { resealSigningKeys } from './keys.ts';

/**
 * Reseals all data that is kept for more than a day, using the newest secret. Older secrets can then be removed.
 * Returns the number of resealed items of each kind.
 */
export async function rotateSecrets(ctx: CommandContext) {
  const personal_data = await rotatePii(ctx);
  const signing_keys = await resealSigningKeys(ctx);
  const webhook_secrets = await resealEndpointSecrets(ctx);
  const authenticator_secrets = await resealTotpSecrets(ctx);
  await keepOwnerKeys(ctx);
  await keepCheckpointKeys(ctx);
  await keepUnsubscribeKeys(ctx);
  await forgetOlderSecrets(ctx.db, ctx.sealing);
  return { personal_data, signing_keys, webhook_secrets, authenticator_secrets };
}
