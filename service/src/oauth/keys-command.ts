import { type Config, ConfigError } from '../config.ts';
import { runAsOperator } from '../operations/operator.ts';
import { rotateSigningKey } from './keys.ts';

export async function runKeys(config: Config, args: string[]): Promise<void> {
  if (args.length !== 1 || args[0] !== 'rotate-signing')
    throw new ConfigError(['keys: there is one command, causeway keys rotate-signing']);
  console.log(JSON.stringify({ kid: await runAsOperator(config, rotateSigningKey) }));
}
