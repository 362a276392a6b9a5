import type { Hex } from 'viem';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { readQuantity } from '../../platform/chain/evm/node-reads.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { readAccounts, readBalance } from '../../platform/chain/solana/reads.ts';
import { readMultisig } from '../../platform/chain/solana/token-accounts.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listUnfinishedKeys } from '../../platform/operator/store.ts';
import { FUND_ROLE, hasRole } from './fund-roles.ts';
import { listFunds, listSendersOf, listSigners } from './reconcile-store.ts';

/** The plan for replacing the keys of a chain: what the new key still needs, and what the old keys have to finish. */
export type RotationPlan = {
  chain: string;
  to: string;
  balance: string;
  /** Whether the new key has all the roles that it needs in every fund, and a balance to pay for transactions. */
  is_ready: boolean;
  funds: { fund: string; missing: string[] }[];
  /** The replaced keys with transactions that are not final. */
  unfinished: { address: string; transactions: number }[];
  steps: string[];
};

/** Plans how to move one role, or both, to another key on an EVM chain. Changes nothing and needs no private key. */
export async function planEvmRotation(
  db: Db,
  chain: EvmChain,
  to: Hex,
  roles: readonly SendingRole[],
): Promise<RotationPlan> {
  const funds = await Promise.all(
    (await listFunds(db, chain.name)).map(async ({ fund }) => {
      const missing: string[] = [];
      for (const role of roles) if (!(await hasRole(chain, fund, role, to))) missing.push(FUND_ROLE[role]);
      return { fund: String(fund), missing };
    }),
  );
  const balance = await readQuantity(chain, 'eth_getBalance', [to, 'latest']);
  const grant = ({ fund, missing }: RotationPlan['funds'][number]) =>
    `Grant ${to} the roles ${missing.join(' and ')} on the fund ${fund}.`;
  const [role] = roles;
  const place =
    roles.length === 1
      ? `Configure the key of ${to} as "${role}" in OPERATOR_KEYS_FILE`
      : `Set OPERATOR_KEY, OPERATOR_KEY_FILE or OPERATOR_KMS_KEY to the key of ${to}`;
  const former = (await listSendersOf(db, chain.name, roles)).filter((address) => address !== to);
  const prefix = roles.length === 1 ? `, each prefixed with "${role}=",` : '';
  const retire = (others: readonly string[]) =>
    others.length === 0 ? '' : `, add the keys of ${others.join(', ')}${prefix} to OPERATOR_RETIRED_KEYS`;
  return finishPlan(db, chain.name, { to, balance, funds, grant, former }, (others) => [
    `${place} on every node${retire(others)}, and restart the nodes.`,
  ]);
}

/**
 * Plans how to move one role, or both, to another key on a Solana cluster. On Solana, the signers of a fund never
 * change, and each of them can act in both roles.
 */
export async function planSolanaRotation(
  db: Db,
  chain: SolanaChain,
  to: string,
  roles: readonly SendingRole[],
): Promise<RotationPlan> {
  const addresses = (await listFunds(db, chain.name)).map(({ fund }) => String(fund));
  const accounts = await readAccounts(chain, addresses, { commitment: 'finalized' });
  const funds = addresses.map((fund, i) => {
    const multisig = readMultisig(accounts[i] ?? null);
    const maySign = multisig?.required === 1 && multisig.signers.includes(to);
    return { fund, missing: maySign ? [] : ['sign'] };
  });
  const grant = ({ fund }: RotationPlan['funds'][number]) =>
    `${to} cannot sign for the fund ${fund}, and a fund's signers never change. Rotate to the fund's standby key, or create a new fund for the offers of this fund.`;
  const balance = await readBalance(chain, to);
  const isOneRole = roles.length === 1;
  const known = isOneRole ? await listSendersOf(db, chain.name, roles) : await listSigners(db, chain.name);
  const former = known.filter((address) => address !== to);
  const place = isOneRole
    ? `Configure the key of ${to} as "${roles[0]}" for "${chain.name}" in OPERATOR_KEYS_FILE`
    : `Set SOLANA_OPERATOR_KEY, SOLANA_OPERATOR_KEY_FILE or SOLANA_OPERATOR_KMS_KEY to the key of ${to}`;
  return finishPlan(db, chain.name, { to, balance, funds, grant, former }, () => [
    `${place} on every node, and restart the nodes. The service follows the old key's transactions without that key. A participation stays with the old key until the participation's transactions have landed or expired, and the receipts of all signers are checked before the new key signs.`,
  ]);
}

async function finishPlan(
  db: Db,
  chain: string,
  found: {
    to: string;
    balance: bigint;
    funds: RotationPlan['funds'];
    grant(fund: RotationPlan['funds'][number]): string;
    former: readonly string[];
  },
  configure: (others: readonly string[]) => string[],
): Promise<RotationPlan> {
  const { to, balance, funds, grant, former } = found;
  const unfinished = (await listUnfinishedKeys(db))
    .filter((key) => key.chain === chain && former.includes(key.address))
    .map(({ address, count }) => ({ address, transactions: count }));
  const lacking = funds.filter(({ missing }) => missing.length > 0);
  return {
    ...{ chain, to, balance: String(balance), funds, unfinished },
    is_ready: lacking.length === 0 && balance > 0n,
    steps: [
      ...lacking.map(grant),
      ...(balance === 0n ? [`Send ${to} the currency that pays for transactions on ${chain}.`] : []),
      ...configure(former),
      ...unfinished.map(
        ({ address, transactions }) =>
          `Keep the key of ${address} until its ${transactions} transactions are final; run this command again to check.`,
      ),
      ...former
        .filter((address) => unfinished.every((key) => key.address !== address))
        .map((address) => `${address} has nothing left to finish: revoke its roles once ${to} settles.`),
    ],
  };
}
