import { resealTotpSecrets } from '../../domain/accounts/second-factor.ts';
import { resealSigningKeys } from '../../domain/oauth/keys.ts';
import { keepOwnerKeys } from '../../domain/proofs/owner-hashes.ts';
import { resealEndpointSecrets } from '../../domain/webhooks/reseal.ts';
import { keepCheckpointKeys } from '../../platform/audit/former-keys.ts';
import { forgetOlderSecrets } from '../../platform/db/installation.ts';
import type { CommandContext } from './run-command.ts';
import { rotatePii } from '../../domain/pii/pii.ts';
import { keepUnsubscribeKeys } from '../../domain/notices/preferences.ts';

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
