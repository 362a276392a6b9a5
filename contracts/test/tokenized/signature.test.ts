import { domainSeparator, type Hex } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { contractSigner } from '../../abi/test/contract-signer.ts';
import {
  accounts,
  type Call,
  type Chain,
  deploy,
  expectRevert,
  revertData,
  send,
  startChain,
} from '../chain.ts';
import { makeQuote, type Quote, signQuote } from '../venue/venue.ts';
import {
  type Deployment,
  deployTokenized,
  gross,
  makeRequest,
  type Request,
  requestDomain,
  requestTypes,
  signedSwap,
  signRequest,
} from './swap.ts';

const { alice, bob, mallory, operator, owner } = accounts;
const unauthorized = '0x82b42900';
let chain: Chain;
let deployment: Deployment;

beforeEach(async () => {
  chain = await startChain();
  deployment = await deployTokenized(chain);
});

describe("the operator's signature", () => {
  const others: Record<keyof Request, () => Partial<Request>> = {
    side: () => ({ side: 1 }),
    inputToken: () => ({ inputToken: deployment.venue.usdon.address }),
    outputToken: () => ({ outputToken: deployment.venue.usdon.address }),
    sender: () => ({ sender: bob.address }),
    nonce: () => ({ nonce: 1n }),
    expiry: () => ({ expiry: 4_000_000_001n }),
    amount: () => ({ amount: gross + 1n }),
  };
  it.each(Object.keys(others) as (keyof Request)[])('is invalid for a different %s', async (field) => {
    const quote = makeQuote(chain, deployment.venue);
    const request = makeRequest(deployment, quote);
    const call = async (signed: Request): Promise<Call> => ({
      ...deployment.swap,
      functionName: 'swap',
      args: [
        quote,
        await signQuote(chain, deployment.venue, quote),
        deployment.venue.dollar.address,
        gross,
        await signRequest(chain, deployment.swap, signed),
      ],
    });
    await expectRevert(chain, alice, await call({ ...request, ...others[field]() }), unauthorized);
    await send(chain, alice, await call(request));
  });

  it('is invalid for a different caller', async () => {
    await expectRevert(chain, bob, await signedSwap(chain, deployment), unauthorized);
  });

  it('is invalid unless the operator signed it', async () => {
    for (const signer of [alice, owner, mallory]) {
      await expectRevert(chain, alice, await signedSwap(chain, deployment, { signer }), unauthorized);
    }
  });

  it.each([
    { what: 'chain', domain: { chainId: 84532 } },
    { what: 'contract', domain: { verifyingContract: mallory.address } },
    { what: 'name', domain: { name: 'Another Swap' } },
    { what: 'version', domain: { version: '2' } },
  ])('is invalid if made for a different $what', async ({ domain }) => {
    const quote = makeQuote(chain, deployment.venue);
    const foreign = await operator.signTypedData({
      domain: { ...requestDomain(chain.id, deployment.swap.address), ...domain },
      types: requestTypes,
      primaryType: 'VerifyRequest',
      message: makeRequest(deployment, quote),
    });
    const signature = await signQuote(chain, deployment.venue, quote);
    const args = [quote, signature, deployment.venue.dollar.address, gross, foreign];
    await expectRevert(chain, alice, { ...deployment.swap, functionName: 'swap', args }, unauthorized);
  });

  it('is used up by the swap, as is any other signature with the same nonce', async () => {
    const first = await signedSwap(chain, deployment);
    const second = await signedSwap(chain, deployment);
    await send(chain, alice, first);
    await expectRevert(chain, alice, first, unauthorized);
    await expectRevert(chain, alice, second, unauthorized);
    await send(chain, alice, await signedSwap(chain, deployment, { request: { nonce: 1n } }));
  });

  it('can be made by a contract wallet', async () => {
    const wallet = await deploy(chain, contractSigner, [operator.address]);
    deployment = await deployTokenized(chain, wallet.address);
    await send(chain, alice, await signedSwap(chain, deployment));
    await expectRevert(
      chain,
      alice,
      await signedSwap(chain, deployment, { signer: mallory, request: { nonce: 1n } }),
      unauthorized,
    );
  });

  it('is invalid once the operator is replaced', async () => {
    const call = await signedSwap(chain, deployment);
    const change = { ...deployment.swap, functionName: 'setOperator', args: [mallory.address] };
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
    asset: { value: () => ({ asset: deployment.venue.usdon.address }), selector: unauthorized },
    price: { value: (quote) => ({ price: quote.price - 1n }), selector: '0x127a982d' },
    quantity: { value: (quote) => ({ quantity: quote.quantity - 1n }), selector: '0x127a982d' },
    expiration: { value: (quote) => ({ expiration: quote.expiration + 1n }), selector: unauthorized },
    side: { value: () => ({ side: 1 }), selector: unauthorized },
    additionalData: { value: () => ({ additionalData: `0x${'01'.repeat(32)}` }), selector: '0x127a982d' },
  };
  it.each(Object.keys(changes) as (keyof Quote)[])(
    'is invalid for a quote with a different %s',
    async (field) => {
      const call = await signedSwap(chain, deployment);
      const [quote, ...rest] = call.args as [Quote, ...unknown[]];
      const { value, selector } = changes[field];
      const changed = { ...call, args: [{ ...quote, ...value(quote) }, ...rest] };
      expect((await revertData(chain, alice, changed)).slice(0, 10)).toBe(selector);
      await send(chain, alice, call);
    },
  );

  it('cannot be used by two wallets', async () => {
    const quote = { attestationId: 9_999_999n };
    await send(chain, alice, await signedSwap(chain, deployment, { quote }));
    const call = await signedSwap(chain, deployment, { quote, request: { sender: bob.address } });
    await expectRevert(chain, bob, call, '0x468752d8');
  });
});

describe('the domain', () => {
  it('has the deployment name in its EIP-5267 description and its separator', async () => {
    const { swap } = deployment;
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
      await chain.client.readContract({ ...deployment.swap, functionName: 'VERIFY_REQUEST_TYPEHASH' }),
    ).toBe('0xbc80a36b87b5bb1806c854856f3085b7cf8ffe21a3f92f0b348be549b8f9501f');
  });
});
