import {
  type Instruction,
  readonly,
  signer,
  writable,
} from '@causeway/contracts/encodings/solana-message.ts';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { describe, expect, test } from 'vitest';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import {
  approveChecked,
  approvePlain,
  MINT,
  revoke,
  tokenInstruction,
} from '../../../test/support/solana-instructions.ts';
import {
  EXPIRY_SLOTS,
  FUND,
  keyOfSeed,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { associatedAccount, keyOf } from '../../platform/chain/solana/addresses.ts';
import { APPROVAL_TTL_MS } from '../settlement/prepared.ts';
import { judgeApproval, lockShortage } from './approval.ts';
import { solanaApprovalReader } from './solana-approval.ts';

const sale = useSolanaSale();
const AMOUNT = 10n * UNIT;

async function refusalOf(buyer: { address: string }, hash: string, amount = AMOUNT) {
  const { status, body } = await sale.post(buyer, amount, hash);
  return { status, code: body.code, reason: (body.errors as { reason?: string } | undefined)?.reason };
}

/** Executes the instructions in one transaction and requests the participation. */
async function judge(name: string, build: (address: string, source: string) => Instruction[]) {
  const buyer = await sale.buyer(name);
  const hash = sale.land(buyer, build(buyer.address, associatedAccount(buyer.address, MINT)));
  sale.mine(1);
  const { status, body } = await sale.post(buyer, AMOUNT, hash);
  const reason = (body.errors as { reason?: string } | undefined)?.reason;
  return status === 200 ? body.status : (reason ?? body.code);
}

/** Builds a batch instruction of the token program. Its items do not appear as inner instructions. */
function batch(items: readonly Instruction[]): Instruction {
  const encoded = items.map(({ accounts, data }) =>
    Buffer.concat([Uint8Array.of(accounts.length, data.length), data]),
  );
  return tokenInstruction(
    [Uint8Array.of(255), ...encoded],
    items.flatMap(({ accounts }) => [...accounts]),
  );
}

describe('an approval is accepted', () => {
  test.each([
    ['checked', (o: string, s: string) => [approveChecked(s, MINT, FUND, o, AMOUNT)]],
    ['plain', (o: string, s: string) => [approvePlain(s, FUND, o, AMOUNT + 1n)]],
    ['in a batch', (o: string, s: string) => [batch([approvePlain(s, FUND, o, AMOUNT)])]],
    [
      'after another approval in the same transaction',
      (o: string, s: string) => [
        approveChecked(s, MINT, solanaKey('other').address, o, 1n),
        approveChecked(s, MINT, FUND, o, AMOUNT),
      ],
    ],
  ])('if it is %s', async (name, build) => {
    expect(await judge(`accepted ${name}`, build)).toBe('pending');
  });

  test('of an account that is not the associated one, which settlement then uses', async () => {
    const buyer = await sale.buyer('other account');
    const source = solanaKey('other account, second').address;
    setTokenAccount(sale.solana, source, buyer.address, AMOUNT);
    const { body } = await sale.post(buyer, AMOUNT, sale.approve(buyer, AMOUNT, { source }));
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(String(body.id))).toBe('submitted');
    expect(sale.balanceOf(source)).toBe(0n);
  });

  test('once it is confirmed, and not while it is only processed', async () => {
    const buyer = await sale.buyer('processed');
    const source = associatedAccount(buyer.address, MINT);
    const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, AMOUNT)]);
    const { body } = await sale.post(buyer, AMOUNT, hash);
    expect(body.status).toBe('prepared');
    sale.mine(1);
    await solanaWorker(sale).round();
    expect(['pending', 'submitted']).toContain(await sale.statusOf(String(body.id)));
  });
});

describe('an approval is refused', () => {
  test.each([
    ['spender', (o: string, s: string) => [approveChecked(s, MINT, solanaKey('other').address, o, AMOUNT)]],
    ['amount', (o: string, s: string) => [approveChecked(s, MINT, FUND, o, AMOUNT - 1n)]],
    ['no_approval', (o: string, s: string) => [revoke(s, o)]],
    [
      'insufficient_allowance',
      (o: string, s: string) => [approveChecked(s, MINT, FUND, o, AMOUNT), revoke(s, o)],
    ],
    [
      'reverted',
      (o: string, s: string) => [
        approveChecked(s, MINT, FUND, o, AMOUNT),
        tokenInstruction(
          [Uint8Array.of(200)],
          [writable(keyOf(s)), readonly(keyOf(MINT)), signer(keyOf(o), false)],
        ),
      ],
    ],
  ])('with the reason %s', async (reason, build) => {
    expect(await judge(`refused ${reason}`, build)).toBe(reason);
  });

  test('if it is of another token, named or not', async () => {
    const buyer = await sale.buyer('other token');
    const mint = solanaKey('another mint').address;
    const source = solanaKey('account of another mint').address;
    const original = sale.solana.chain.svm.account(keyOf(MINT));
    if (original === null) throw new Error('there is no mint');
    sale.solana.chain.svm.setAccount(keyOf(mint), original);
    setTokenAccount(sale.solana, source, buyer.address, AMOUNT, mint);
    const checked = sale.approve(buyer, AMOUNT, { source, mint });
    expect((await refusalOf(buyer, checked)).reason).toBe('token');
    const plain = sale.land(buyer, [approvePlain(source, FUND, buyer.address, AMOUNT)]);
    sale.mine(1);
    expect((await refusalOf(buyer, plain)).reason).toBe('token');
  });

  test('if another wallet made it', async () => {
    const [maker, other] = [await sale.buyer('maker'), await sale.buyer('not the maker')];
    const hash = sale.approve(maker, AMOUNT);
    expect(await refusalOf(other, hash)).toEqual({ status: 422, code: 'approval_invalid', reason: 'owner' });
  });

  test('if it is used already, and the same request returns the same participation', async () => {
    const buyer = await sale.buyer('twice');
    const hash = sale.approve(buyer, AMOUNT);
    const first = await sale.post(buyer, AMOUNT, hash);
    expect((await sale.post(buyer, AMOUNT, hash)).body.id).toBe(first.body.id);
    expect((await refusalOf(buyer, hash, AMOUNT - 1n)).code).toBe('approval_already_used');
  });

  test('if another user has used it, also with the same wallet', async () => {
    const buyer = await sale.buyer('two users');
    const hash = sale.approve(buyer, AMOUNT);
    expect((await sale.post(buyer, AMOUNT, hash)).status).toBe(200);
    const other = await person(sale.app, { userId: userId(7) });
    await proveWallets(sale.app.ctx, [buyer.address], { userId: userId(7) });
    const { status, body } = await other.call(
      'POST',
      '/v1/participations',
      sale.request(buyer, AMOUNT, hash),
    );
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'approval_already_used' });
  });

  test('if the signature or the address is not exactly what the chain uses', async () => {
    const buyer = await sale.buyer('exact');
    const hash = sale.approve(buyer, AMOUNT);
    const swapped = hash.replace(/[a-z]/, (letter) => letter.toUpperCase());
    expect((await refusalOf(buyer, `1${hash}`)).code).toBe('validation_failed');
    expect((await refusalOf(buyer, 'x'.repeat(88))).code).toBe('validation_failed');
    expect((await refusalOf({ address: `1${buyer.address}` }, hash)).code).toBe('validation_failed');
    expect((await refusalOf({ address: `0x${'ab'.repeat(20)}` }, hash)).code).toBe('validation_failed');
    // Base58 is case-sensitive. With one letter in the wrong case, the text is either not a valid signature or belongs
    // to no transaction.
    const { status, body } = await sale.post(buyer, AMOUNT, swapped);
    expect(status === 200 ? body.status : body.code).toMatch(/prepared|validation_failed/);
  });

  test('if the wallet owns the vault, is the fund or the operator, or approves the vault', async () => {
    const addresses = [solanaRoles.vaultOwner.address, FUND, solanaRoles.operator.address];
    await proveWallets(sale.app.ctx, addresses);
    const hashes = [
      sale.approve(await sale.buyer('anybody'), AMOUNT),
      sale.approve(keyOfSeed(solanaRoles.vaultOwner.seed), 1_000_000n * UNIT, { source: VAULT }),
    ];
    for (const [address, hash] of addresses.flatMap((each) => hashes.map((hash) => [each, hash] as const))) {
      const { body } = await sale.post({ address }, AMOUNT, hash);
      expect(body).toMatchObject({
        code: 'validation_failed',
        errors: { wallet_address: expect.anything() },
      });
    }
  });

  test('if the amount does not fit a token account', async () => {
    const buyer = await sale.buyer('huge');
    expect((await refusalOf(buyer, sale.approve(buyer, AMOUNT), 2n ** 64n)).code).toBe('validation_failed');
  });

  test('if it does not cover the earlier participations of the account, whose approval it replaced', async () => {
    const buyer = await sale.buyer('replaced');
    await sale.participate(buyer, AMOUNT);
    expect((await refusalOf(buyer, sale.approve(buyer, AMOUNT))).code).toBe('insufficient_allowance');
    const { status } = await sale.post(buyer, AMOUNT, sale.approve(buyer, 2n * AMOUNT));
    expect(status).toBe(200);
    await solanaWorker(sale).settle();
    sale.mine(10);
    await solanaWorker(sale).settle();
    expect(sale.balanceOf(associatedAccount(buyer.address, MINT))).toBe(1_000n * UNIT - 2n * AMOUNT);
  });

  test('if a commit takes what it covers while it is judged', async () => {
    const { ctx } = sale.app;
    const buyer = await sale.buyer('judged');
    const first = await sale.participate(buyer, AMOUNT);
    const approvalHash = sale.approve(buyer, AMOUNT);
    await solanaWorker(sale).round();
    expect(await sale.statusOf(first)).toBe('submitted');
    const reader = solanaApprovalReader(ctx.chains.solana('solana_devnet'));
    const listLanded: typeof reader.listLanded = (...args) => {
      sale.mine(1);
      return reader.listLanded(...args);
    };
    const { shared } = await judgeApproval(ctx, { ...reader, listLanded }, 'solana_devnet', {
      ...{ user: buyer.address, fund: FUND, token: MINT, amount: AMOUNT, approvalHash, source: null },
    });
    if (shared === null) throw new Error('the approval is not good');
    expect(await ctx.db.transaction().execute((tx) => lockShortage(tx, shared))).toMatchObject({
      code: 'insufficient_allowance',
      details: { required: String(AMOUNT), allowance: '0' },
    });
  });
});

describe('an approval that does not arrive', () => {
  test('fails its participation after 30 minutes, and nothing is pulled', async () => {
    const buyer = await sale.buyer('never');
    const before = sale.balanceOf(VAULT);
    const source = associatedAccount(buyer.address, MINT);
    const hash = sale.land(buyer, [approveChecked(source, MINT, FUND, buyer.address, AMOUNT)]);
    sale.solana.chain.rollBack(1, 'drop');
    sale.mine(2);
    const id = String((await sale.post(buyer, AMOUNT, hash)).body.id);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.app.clock.set(sale.app.clock.now() + APPROVAL_TTL_MS + 1_000);
    const worker = solanaWorker(sale);
    await worker.settle();
    // Not failed yet: the database may have lost a commit, which could still land until its blockhash expires.
    expect(await sale.statusOf(id)).toBe('prepared');
    sale.mine(2 * EXPIRY_SLOTS);
    await worker.settle();
    expect(await sale.statusOf(id)).toBe('failed');
    expect(await sale.reasonOf(id)).toBe('approval_not_mined');
    expect(sale.balanceOf(VAULT)).toBe(before);
  });
});

test('a node without inner instructions is not believed', async () => {
  const buyer = await sale.buyer('inner');
  const hash = sale.approve(buyer, AMOUNT);
  for (const { faults } of sale.solana.nodes) faults.recordsInner = false;
  expect((await sale.post(buyer, AMOUNT, hash)).status).toBe(502);
  for (const { faults } of sale.solana.nodes) faults.recordsInner = true;
  expect((await sale.post(buyer, AMOUNT, hash)).body.status).toBe('pending');
});
