import { rotateSigningKey } from '../../domain/oauth/keys.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { CommandHelp } from './command.ts';
import { rotateSecrets } from './rotate-secrets.ts';
import { runCommand } from './run-command.ts';

export const KEYS_HELP: CommandHelp = {
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

export async function runKeys(config: Config, args: string[]): Promise<void> {
  const [command = ''] = args;
  if (args.length === 1 && command === 'rotate-signing') {
    console.log(JSON.stringify({ kid: await runCommand(config, rotateSigningKey) }));
  } else if (args.length === 1 && command === 'rotate') {
    const resealed = await runCommand(config, rotateSecrets);
    console.log(JSON.stringify({ resealed }));
  } else throw new UsageError('keys requires a command: "rotate" or "rotate-signing"');
}
