import { encodeMessage, readonly, signer, writable } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { expect, test } from 'vitest';
import { isWritableKey, parseMessage } from './wire-transaction.ts';

const key = (seed: number) => new Uint8Array(32).fill(seed);
const address = (seed: number) => base58.encode(key(seed)) as Address;

test('a message means the same as that of a client library, which sorts accounts differently', () => {
  const blockhash = base58.encode(key(200)) as Blockhash;
  const expected = compileTransaction(
    pipe(
      createTransactionMessage({ version: 'legacy' }),
      (m) => setTransactionMessageFeePayer(address(9), m),
      (m) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 1n }, m),
      (m) =>
        appendTransactionMessageInstructions(
          [
            {
              programAddress: address(100),
              accounts: [
                { address: address(3), role: AccountRole.WRITABLE },
                { address: address(4), role: AccountRole.READONLY },
                { address: address(5), role: AccountRole.READONLY },
                { address: address(9), role: AccountRole.WRITABLE_SIGNER },
              ],
              data: Uint8Array.of(13, 1, 2, 3),
            },
          ],
          m,
        ),
    ),
  );
  const message = encodeMessage({
    feePayer: key(9),
    blockhash: key(200),
    instructions: [
      {
        program: key(100),
        accounts: [writable(key(3)), readonly(key(4)), readonly(key(5)), signer(key(9))],
        data: Uint8Array.of(13, 1, 2, 3),
      },
    ],
  });
  expect(describeMessage(message)).toEqual(describeMessage(new Uint8Array(expected.messageBytes)));
});

function describeMessage(message: Uint8Array) {
  const parsed = parseMessage(Buffer.from(message));
  const { header, keys, blockhash, instructions } = parsed;
  const describeKey = (index: number) =>
    [keys[index]?.[0], index < header.required ? 's' : '', isWritableKey(parsed, index) ? 'w' : ''].join('');
  return {
    ...{ header, blockhash, feePayer: keys[0] },
    instructions: instructions.map(({ program, accounts, data }) => ({
      ...{ program: describeKey(program), accounts: accounts.map(describeKey), data },
    })),
  };
}

test('lengths above 127 take two bytes', () => {
  const data = new Uint8Array(300).fill(7);
  const accounts = [signer(key(9))];
  const instructions = [{ program: key(1), accounts, data }];
  const message = encodeMessage({ feePayer: key(9), blockhash: key(2), instructions });
  expect(parseMessage(Buffer.from(message)).instructions[0]?.data).toEqual(Buffer.from(data));
});
