import { resealTotpSecrets } from '../../domain/accounts/second-factor.ts';
import { keepUnsubscribeKeys } from '../../domain/notices/preferences.ts';
import { resealSigningKeys, rotateSigningKey } from '../../domain/oauth/keys.ts';
import { rotatePii } from '../../domain/pii/pii.ts';
import { keepOwnerKeys } from '../../domain/proofs/owner-hashes.ts';
import { resealEndpointSecrets } from '../../domain/webhooks/endpoint.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { keepCheckpointKeys } from '../../platform/audit/tagged-records.ts';
import { forgetOlderSecrets } from '../../platform/db/installation.ts';
import type { CommandHelp } from './command.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: ['keys rotate', 'keys rotate-signing'],
  description: 'Replaces the secrets and keys of this installation.',
  commands: {
    rotate:
      'Re-encrypts personal data, signing keys, webhook secrets and authenticator secrets with the first secret in CAUSEWAY_SECRET. Run it after every node has restarted with the new secret listed first. Remove the old secret a day later.',
    'rotate-signing': 'Creates a new key for ID tokens. The previous key stays published for a day.',
  },
  examples: {
    'keys rotate': 'Finish rotating CAUSEWAY_SECRET',
    'keys rotate-signing': 'Sign ID tokens with a new key',
  },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const [command = ''] = args;
  if (args.length === 1 && command === 'rotate-signing') {
    console.log(JSON.stringify({ kid: await runCommand(config, rotateSigningKey) }));
  } else if (args.length === 1 && command === 'rotate') {
    const resealed = await runCommand(config, rotateSecrets);
    console.log(JSON.stringify({ resealed }));
  } else throw new UsageError('keys requires a command: "rotate" or "rotate-signing"');
}

/** Reseals all data that is kept for more than a day. Older secrets can then be removed. */
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
