import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../src/base58.ts';
import type { FlowOptions } from '../../src/flows/flow.ts';
import { buyTokenSaleOnSolana, type SolanaSaleInput, type SolanaSalePhase } from '../../src/flows/index.ts';
import type { SolanaWallet } from '../../src/flows/wallet.ts';
import { createSolanaTestWallet, readSolanaApproval } from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';
import { failureOf, optionOf, type Sandbox, useSandbox } from './sandbox.ts';

const chain = 'solana_devnet';
const AMOUNT = 25_000_000n;

let sandbox: Sandbox;
let offer: OfferDetails;
let options: FlowOptions<SolanaSalePhase>;

beforeAll(async () => {
  sandbox = await useSandbox();
  offer = await (await sandbox.newUser()).offers.get('harbour-quarter');
  const { rpc_url = '' } = sandbox.overview.chains.find((one) => one.chain === chain) ?? {};
  options = {
    ...{ rpcUrls: { [chain]: [rpc_url] }, pollIntervalMs: 50, confirmationTimeoutMs: 30_000 },
    siwe: { domain: 'localhost:3000', uri: 'http://localhost:3000' },
  };
});

type WalletChange = Partial<Parameters<typeof createSolanaTestWallet>[0]>;

async function newWallet(change: WalletChange = {}): Promise<SolanaWallet> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const seed = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).slice(-32);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const wallet = createSolanaTestWallet({
    privateKey: encodeBase58(new Uint8Array([...seed, ...publicKey])),
    rpcUrl: options.rpcUrls?.[chain]?.[0],
    ...change,
  });
  await sandbox.faucet(wallet.address, undefined, '1000000000', chain);
  await sandbox.faucet(wallet.address, 'usd-coin', '1000000000', chain);
  return wallet;
}

function sale(wallet: SolanaWallet, change: Partial<SolanaSaleInput> = {}): SolanaSaleInput {
  return {
    ...{ offer, chain, wallet, assetId: 'usd-coin', amount: AMOUNT },
    optionId: optionOf(offer, 'public'),
    ...change,
  };
}

/** Signs transactions without sending them. */
const signWith = (wallet: Pick<SolanaWallet, 'signMessage'>) => async (transaction: Uint8Array) => {
  const message = transaction.slice(65);
  return Uint8Array.of(1, ...(await wallet.signMessage(message)), ...message);
};

type OnSend = (forward: () => Promise<unknown>) => Promise<unknown>;

/**
 * Starts a node that forwards every call to `rpcUrl`, except `sendTransaction`. For that call, `onSend` returns what
 * the node answers: a JSON-RPC reply, an HTTP status, or undefined to drop the connection.
 */
async function startNode(rpcUrl: string, onSend: OnSend) {
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const headers = { 'content-type': 'application/json' };
    const forward = async () => (await fetch(rpcUrl, { method: 'POST', headers, body })).json();
    const reply = body.includes('"sendTransaction"') ? await onSend(forward) : await forward();
    if (reply === undefined) request.socket.destroy();
    else if (typeof reply === 'number') response.writeHead(reply).end('<html>');
    else response.writeHead(200, headers).end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Starts one node for each function in `onSends`, and calls `run` with the URLs of the nodes. */
async function withNodes<Result>(onSends: OnSend[], run: (urls: string[]) => Promise<Result>) {
  const [rpcUrl = ''] = options.rpcUrls?.[chain] ?? [];
  const nodes = await Promise.all(onSends.map((onSend) => startNode(rpcUrl, onSend)));
  try {
    return await run(nodes.map(({ url }) => url));
  } finally {
    for (const node of nodes) await node.close();
  }
}

describe('a token sale on Solana', () => {
  test('approves exactly the amount for the fund and is settled and refunded', async () => {
    const approvals: unknown[] = [];
    const wallet = await newWallet({
      confirmTransaction: (message) => {
        approvals.push(readSolanaApproval(message));
        return true;
      },
    });
    const causeway = await sandbox.newUser();
    const phases: string[] = [];
    const participation = await buyTokenSaleOnSolana(causeway, sale(wallet), {
      ...options,
      onPhase: (phase) => phases.push(phase),
    });
    const fund = offer.contracts.find((contract) => contract.chain === chain);
    expect(approvals).toEqual([
      { mint: fund?.funding_tokens[0]?.address, spender: fund?.address, amount: AMOUNT },
    ]);
    expect(phases).toEqual(['checking', 'proving', 'approving', 'confirming_approval', 'creating']);
    const status = async () => (await causeway.participations.get(participation.id)).status;
    await expect.poll(status, { timeout: 60_000 }).toBe('completed');
    await sandbox.control('POST', `/sandbox/participations/${participation.id}/remit`, {});
    await expect.poll(status, { timeout: 60_000 }).toBe('remitted');
  });

  test('waits for an earlier participation in any offer, because an account has one delegate', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await newWallet();
    const other = await sandbox.sellAlso(offer, chain);
    const first = await buyTokenSaleOnSolana(causeway, sale(wallet), options);
    const second = await buyTokenSaleOnSolana(
      causeway,
      sale(wallet, { offer: other, optionId: optionOf(other, 'only') }),
      options,
    );
    for (const { id } of [first, second])
      await expect
        .poll(async () => (await causeway.participations.get(id)).status, { timeout: 60_000 })
        .toBe('completed');
  });

  test('resumes after the approval, and twice at once creates one participation', async () => {
    const wallet = await newWallet();
    const causeway = await sandbox.newUser();
    const controller = new AbortController();
    let approvalHash: string | undefined;
    const onApproved = (hash: string) => {
      approvalHash = hash;
      controller.abort();
    };
    const failure = await failureOf(
      buyTokenSaleOnSolana(causeway, sale(wallet, { onApproved }), { ...options, signal: controller.signal }),
    );
    expect(failure.code).toBe('aborted');
    const resume = () => buyTokenSaleOnSolana(causeway, sale(wallet, { approvalHash }), options);
    const [first, second] = await Promise.all([resume(), resume()]);
    expect(first.id).toBe(second.id);
  });

  test('fails before the approval if the sale cannot work', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await newWallet({
      confirmTransaction: () => {
        throw new Error('must not be asked');
      },
    });
    const codeOf = async (
      change: Partial<SolanaSaleInput>,
      more: Partial<FlowOptions<SolanaSalePhase>> = {},
    ) =>
      (await failureOf(buyTokenSaleOnSolana(causeway, sale(wallet, change), { ...options, ...more }))).code;
    expect(await codeOf({ amount: 2_000_000_000n })).toBe('insufficient_balance');
    expect(await codeOf({ amount: 1n })).toBe('invalid_input');
    expect(await codeOf({ assetId: 'tether' })).toBe('asset_not_accepted');
    expect(await codeOf({ chain: 'solana_mainnet' })).toBe('chain_not_supported');
    expect(await codeOf({ approvalHash: '0x1234' })).toBe('invalid_input');
    expect(await codeOf({}, { rpcUrls: {} })).toBe('invalid_input');
    const trusted = { [chain]: { contracts: [wallet.address] } };
    expect(await codeOf({}, { trusted })).toBe('contract_not_trusted');
  });

  test('a rejected approval leaves nothing behind', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await newWallet({ confirmTransaction: () => false });
    const failure = await failureOf(buyTokenSaleOnSolana(causeway, sale(wallet), options));
    expect([failure.code, failure.phase]).toEqual(['user_rejected', 'approving']);
    expect((await causeway.participations.list()).data).toEqual([]);
  });

  test('a wallet that fails after it sent leaves the outcome unknown', async () => {
    const causeway = await sandbox.newUser();
    const wallet = await newWallet();
    const signAndSendTransaction: typeof wallet.signAndSendTransaction = async (...sent) => {
      await wallet.signAndSendTransaction?.(...sent);
      throw new TypeError('Failed to fetch');
    };
    const order = sale({ ...wallet, signAndSendTransaction });
    const failure = await failureOf(buyTokenSaleOnSolana(causeway, order, options));
    expect([failure.code, failure.phase]).toEqual(['outcome_unknown', 'approving']);
  });

  /** Buys through the given nodes, with a wallet that signs transactions but does not send them. */
  const buyThrough = async (...urls: string[]) => {
    const { signAndSendTransaction: _, ...wallet } = await newWallet();
    const order = sale({ ...wallet, signTransaction: signWith(wallet) });
    return buyTokenSaleOnSolana(await sandbox.newUser(), order, { ...options, rpcUrls: { [chain]: urls } });
  };
  const refuse = async () => ({
    error: { code: -32002, message: 'Transaction simulation failed: Blockhash not found' },
  });

  test('a refusal does not count if the node before it may have sent the transaction', async () => {
    let sent = 0;
    // The first node sends the transaction and drops the connection. The second node no longer accepts the blockhash.
    const silent: OnSend = async (forward) => {
      sent++;
      await forward();
      return undefined;
    };
    await withNodes([silent, refuse], async ([first = '', second = '']) => {
      expect((await buyThrough(first, second)).chain).toBe(chain);
      expect(sent).toBe(1);
      // If only the second node is asked, its refusal means that nothing was sent.
      const failure = await failureOf(buyThrough(second));
      expect([failure.code, failure.phase]).toEqual(['wallet_error', 'approving']);
    });
  });

  test('a node that turns the transaction away has not sent it, but the next one may', async () => {
    await withNodes(
      [async () => 403, refuse, (forward) => forward()],
      async ([forbidden = '', ...others]) => {
        const [refusing = '', working = ''] = others;
        for (const urls of [[forbidden], [forbidden, refusing]]) {
          const failure = await failureOf(buyThrough(...urls));
          expect([failure.code, failure.phase]).toEqual(['wallet_error', 'approving']);
        }
        expect((await buyThrough(forbidden, working)).chain).toBe(chain);
      },
    );
  });

  test('reports an approval that the wallet sends after the flow was aborted', async () => {
    const wallet = await newWallet();
    const controller = new AbortController();
    const signAndSendTransaction: typeof wallet.signAndSendTransaction = async (...args) => {
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve));
      return (await wallet.signAndSendTransaction?.(...args)) as Uint8Array;
    };
    const hashes: string[] = [];
    const answers: Promise<unknown>[] = [];
    const failure = await failureOf(
      buyTokenSaleOnSolana(await sandbox.newUser(), sale({ ...wallet, signAndSendTransaction }), {
        ...{ ...options, signal: controller.signal, onSend: (answer) => answers.push(answer) },
        onTransaction: ({ hash }) => hashes.push(hash),
      }),
    );
    expect([failure.code, answers.length]).toEqual(['aborted', 1]);
    await answers[0];
    await expect.poll(() => hashes).toHaveLength(1);
  });

  test('a wallet that signs but does not send works too', async () => {
    const causeway = await sandbox.newUser();
    const { signAndSendTransaction: _, ...wallet } = await newWallet();
    const order = sale({ ...wallet, signTransaction: signWith(wallet) });
    const participation = await buyTokenSaleOnSolana(causeway, order, options);
    expect(participation.wallet_address).toBe(wallet.address);
  });
});
