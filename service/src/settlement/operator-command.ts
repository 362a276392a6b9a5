import { parseArgs } from 'node:util';
import { openChains } from '../chain/evm/client.ts';
import { realClock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import { createLog } from '../log.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { runCommand } from '../operations/run-command.ts';
import { feeLimits } from '../operator/account.ts';
import { NotDeepEnough } from '../operator/adopt.ts';
import { openOperatorKey } from '../operator/key.ts';
import { readOperatorStatus } from '../operator/status.ts';
import { adoptNonce } from './adopt.ts';

export const OPERATOR_HELP: CommandHelp = {
  usage: ['operator status', 'operator adopt CHAIN'],
  description:
    "status prints, for every configured chain, the operator key's balance, its nonce on chain, the next nonce the service will use, and the number of open transactions. adopt resumes settlement after another program has used the key: it continues from the chain's nonce once the foreign transactions are final.",
  examples: {
    'operator status': 'Check the balance and the nonces',
    'operator adopt ethereum_mainnet': 'Continue after a transaction was sent by hand',
  },
};

export async function runOperator(config: Config, args: string[]): Promise<void> {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [name = '', chain, ...more] = positionals;
  if (name !== 'status' && name !== 'adopt')
    throw new UsageError('operator requires one of the commands status and adopt');
  if (name === 'status' && chain !== undefined) throw new UsageError('operator status takes no arguments');
  if (name === 'adopt' && (chain === undefined || more.length > 0))
    throw new UsageError('operator adopt requires one chain, such as ethereum_mainnet');
  if (config.operatorKey === null)
    throw new ConfigError([
      'OPERATOR_KEY: is required by operator; set OPERATOR_KEY, OPERATOR_KEY_FILE or OPERATOR_KMS_KEY',
    ]);
  const signer = await openOperatorKey(config.operatorKey, realClock());
  const chains = openChains({ urls: config.rpcUrls, freshnessMs: config.rpcFreshnessMs });
  const log = createLog({ level: 'silent', pretty: false });
  try {
    await runCommand(config, async (ctx) => {
      const parts = { ...ctx, log, signer };
      if (chain !== undefined) {
        const next = await adoptNonce(ctx, {
          ...parts,
          ...feeLimits(config, chain),
          chain: chains.evm(chain),
        });
        console.log(`The next nonce of ${signer.address} on ${chain} is ${next}.`);
        return;
      }
      for (const each of chains.all())
        console.log(
          JSON.stringify(
            await readOperatorStatus({ ...parts, ...feeLimits(config, each.name), chain: each }),
            null,
            2,
          ),
        );
    });
  } catch (error) {
    if (!(error instanceof NotDeepEnough)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    await chains.close();
  }
}
