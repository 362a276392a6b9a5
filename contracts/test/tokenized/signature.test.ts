import { domainSeparator, type Hex } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { contractSigner } from '../../abi/test/contract-signer.ts';
import { type Call, type Chain, deploy, expectRevert, people, revertOf, send, startChain } from '../chain.ts';
import { makeQuote, type Quote, signQuote } from '../venue/venue.ts';
import {
  deployTokenized,
  gross,
  makeRequest,
  type Request,
  requestDomain,
  requestTypes,
  type Setting,
  signedSwap,
  signRequest,
} from './swap.ts';

const { alice, bob, mallory, operator, owner } = people;
const unauthorized = '0x82b42900';
let chain: Chain;
let setting: Setting;

beforeEach(async () => {
  chain = await startChain();
  setting = await deployTokenized(chain);
});

describe("the operator's signature", () => {
  const others: Record<keyof Request, () => Partial<Request>> = {
    side: () => ({ side: 1 }),
    inputToken: () => ({ inputToken: setting.venue.usdon.address }),
    outputToken: () => ({ outputToken: setting.venue.usdon.address }),
    sender: () => ({ sender: bob.address }),
    nonce: () => ({ nonce: 1n }),
    expiry: () => ({ expiry: 4_000_000_001n }),
    amount: () => ({ amount: gross + 1n }),
  };
  it.each(Object.keys(others) as (keyof Request)[])('is void over another %s', async (field) => {
    const quote = makeQuote(chain, setting.venue);
    const request = makeRequest(setting, quote);
    const call = async (signed: Request): Promise<Call> => ({
      ...setting.swap,
      functionName: 'swap',
      args: [
        quote,
        await signQuote(chain, setting.venue, quote),
        setting.venue.dollar.address,
        gross,
        await signRequest(chain, setting.swap, signed),
      ],
    });
    await expectRevert(chain, alice, await call({ ...request, ...others[field]() }), unauthorized);
    await send(chain, alice, await call(request));
  });

  it('is void from another wallet', async () => {
    await expectRevert(chain, bob, await signedSwap(chain, setting), unauthorized);
  });

  it('is void by anyone but the operator', async () => {
    for (const signer of [alice, owner, mallory]) {
      await expectRevert(chain, alice, await signedSwap(chain, setting, { signer }), unauthorized);
    }
  });

  it.each([
    { what: 'chain', domain: { chainId: 84532 } },
    { what: 'contract', domain: { verifyingContract: mallory.address } },
    { what: 'name', domain: { name: 'Another Swap' } },
    { what: 'version', domain: { version: '2' } },
  ])('is void when made for another $what', async ({ domain }) => {
    const quote = makeQuote(chain, setting.venue);
    const foreign = await operator.signTypedData({
      domain: { ...requestDomain(chain.id, setting.swap.address), ...domain },
      types: requestTypes,
      primaryType: 'VerifyRequest',
      message: makeRequest(setting, quote),
    });
    const signature = await signQuote(chain, setting.venue, quote);
    const args = [quote, signature, setting.venue.dollar.address, gross, foreign];
    await expectRevert(chain, alice, { ...setting.swap, functionName: 'swap', args }, unauthorized);
  });

  it('is spent by the swap: neither it nor a second one of the same nonce works again', async () => {
    const first = await signedSwap(chain, setting);
    const second = await signedSwap(chain, setting);
    await send(chain, alice, first);
    await expectRevert(chain, alice, first, unauthorized);
    await expectRevert(chain, alice, second, unauthorized);
    await send(chain, alice, await signedSwap(chain, setting, { request: { nonce: 1n } }));
  });

  it('may be of a contract wallet', async () => {
    const wallet = await deploy(chain, contractSigner, [operator.address]);
    setting = await deployTokenized(chain, wallet.address);
    await send(chain, alice, await signedSwap(chain, setting));
    await expectRevert(
      chain,
      alice,
      await signedSwap(chain, setting, { signer: mallory, request: { nonce: 1n } }),
      unauthorized,
    );
  });

  it('ends with the operator who made it', async () => {
    const call = await signedSwap(chain, setting);
    const change = { ...setting.swap, functionName: 'setOperator', args: [mallory.address] };
    await expectRevert(chain, operator, change, unauthorized);
    await send(chain, owner, change);
    await expectRevert(chain, alice, call, unauthorized);
  });
});

describe("the venue's signature", () => {
  const changes: Record<keyof Quote, { value: (quote: Quote) => Partial<Quote>; selector: Hex }> = {
    chainId: { value: () => ({ chainId: 1n }), selector: '0x7a47c9a2' },
    attestationId: {
      value: (quote) => ({ attestationId: quote.attestationId + 1n }),
      selector: '0x127a982d',
    },
    userId: { value: () => ({ userId: `0x${'22'.repeat(32)}` }), selector: '0xe9167b86' },
    asset: { value: () => ({ asset: setting.venue.usdon.address }), selector: unauthorized },
    price: { value: (quote) => ({ price: quote.price - 1n }), selector: '0x127a982d' },
    quantity: { value: (quote) => ({ quantity: quote.quantity - 1n }), selector: '0x127a982d' },
    expiration: { value: (quote) => ({ expiration: quote.expiration + 1n }), selector: unauthorized },
    side: { value: () => ({ side: 1 }), selector: unauthorized },
    additionalData: { value: () => ({ additionalData: `0x${'01'.repeat(32)}` }), selector: '0x127a982d' },
  };
  it.each(Object.keys(changes) as (keyof Quote)[])(
    'does not cover a quote with another %s',
    async (field) => {
      const call = await signedSwap(chain, setting);
      const [quote, ...rest] = call.args as [Quote, ...unknown[]];
      const { value, selector } = changes[field];
      const changed = { ...call, args: [{ ...quote, ...value(quote) }, ...rest] };
      expect((await revertOf(chain, alice, changed)).slice(0, 10)).toBe(selector);
      await send(chain, alice, call);
    },
  );

  it('does not let two wallets share an attestation', async () => {
    const quote = { attestationId: 9_999_999n };
    await send(chain, alice, await signedSwap(chain, setting, { quote }));
    const call = await signedSwap(chain, setting, { quote, request: { sender: bob.address } });
    await expectRevert(chain, bob, call, '0x468752d8');
  });
});

describe('the domain', () => {
  it('carries the name of the deployment, by EIP-5267 and by its separator', async () => {
    const { swap } = setting;
    const domain = requestDomain(chain.id, swap.address);
    const [fields, name, version, chainId, verifyingContract, salt, extensions] =
      await chain.client.readContract({
        ...swap,
        functionName: 'eip712Domain',
      });
    expect({ fields, name, version, chainId, salt, extensions }).toEqual({
      fields: '0x0f',
      name: domain.name,
      version: '1',
      chainId: BigInt(chain.id),
      salt: `0x${'00'.repeat(32)}`,
      extensions: [],
    });
    expect(verifyingContract.toLowerCase()).toBe(swap.address);
    expect(await chain.client.readContract({ ...swap, functionName: 'domainSeparator' })).toBe(
      domainSeparator({ domain }),
    );
  });

  it('has the type hash of the deployed wrappers', async () => {
    expect(
      await chain.client.readContract({ ...setting.swap, functionName: 'VERIFY_REQUEST_TYPEHASH' }),
    ).toBe('0xbc80a36b87b5bb1806c854856f3085b7cf8ffe21a3f92f0b348be549b8f9501f');
  });
});
