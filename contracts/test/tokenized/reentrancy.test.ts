import { maxUint256 } from 'viem';
import { expect, it } from 'vitest';
import { reentrantToken } from '../../abi/test/reentrant-token.ts';
import { accounts, deploy, encodeCall, send, startChain } from '../chain.ts';
import { makeQuote, signQuote, unit } from '../venue/venue.ts';
import { deployTokenized, gross, makeRequest, signRequest } from './swap.ts';

const { alice, owner } = accounts;

it('the swap cannot be reentered by the token it pulls', async () => {
  const chain = await startChain();
  const { swap, venue } = await deployTokenized(chain);
  const token = await deploy(chain, reentrantToken);
  await send(chain, owner, { ...token, functionName: 'mint', args: [alice.address, 2n * gross] });
  await send(chain, alice, { ...token, functionName: 'approve', args: [swap.address, maxUint256] });
  const post = { ...venue.converter, functionName: 'setPrice', args: [token.address, unit, 2n ** 40n] };
  await send(chain, owner, post);

  const buy = async (sender: `0x${string}`) => {
    const quote = makeQuote(chain, venue);
    const request = makeRequest({ swap, venue }, quote, { inputToken: token.address, sender });
    const signatures = [await signQuote(chain, venue, quote), await signRequest(chain, swap, request)];
    const args = [quote, signatures[0], token.address, gross, signatures[1]];
    return { ...swap, functionName: 'swap', args };
  };
  // The token has its own valid request, so only the reentrancy guard can stop its reentrant call.
  const inner = encodeCall(await buy(token.address));
  await send(chain, owner, { ...token, functionName: 'arm', args: [swap.address, inner] });
  await send(chain, alice, await buy(alice.address));
  expect(await chain.client.readContract({ ...token, functionName: 'tried' })).toBe(true);
  expect(await chain.client.readContract({ ...token, functionName: 'answer' })).toBe('0xab143c06');
});
