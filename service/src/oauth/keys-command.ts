import { type Config, ConfigError } from '../config.ts';
import { runCommand } from '../operations/run-command.ts';
import { rotatePii } from '../pii/rotate.ts';
import { resealSigningKeys, rotateSigningKey } from './keys.ts';

/** `rotate` follows a new secret in front of CAUSEWAY_SECRET, once every node runs with it. */
export async function runKeys(config: Config, args: string[]): Promise<void> {
  const [command] = args;
  if (args.length === 1 && command === 'rotate-signing') {
    console.log(JSON.stringify({ kid: await runCommand(config, rotateSigningKey) }));
  } else if (args.length === 1 && command === 'rotate') {
    const resealed = await runCommand(config, async (ctx) => ({
      personal_data: await rotatePii(ctx),
      signing_keys: await resealSigningKeys(ctx),
    }));
    console.log(JSON.stringify({ resealed }));
  } else
    throw new ConfigError(['keys: the commands are causeway keys rotate and causeway keys rotate-signing']);
}
