import { CHAINS, type OfferDetails } from '@causeway/sdk';
import { useInvalidate, useWallet } from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { type ChainConfig, postJson } from '../config.ts';

const TOKENS_PER_REQUEST = 10_000n;
const GAS_WEI = 10n ** 18n;
type Token = ChainConfig['tokens'][number];

/** Sends test dollars and gas to an address on one chain. */
async function fundWallet(chain: ChainConfig, address: string, tokens: readonly Token[]): Promise<void> {
  const url = `/sandbox/chains/${chain.chain}/faucet`;
  await postJson(url, { address, amount: GAS_WEI.toString() });
  for (const { asset_id, decimals } of tokens)
    await postJson(url, {
      address,
      asset_id,
      amount: (TOKENS_PER_REQUEST * 10n ** BigInt(decimals)).toString(),
    });
}

type Faucet = { canFund: boolean; isBusy: boolean; message: string; fund(): Promise<void> };

/** Funds the connected wallet with these assets on every chain. */
export function useFaucet(chains: readonly ChainConfig[], assetIds: readonly string[]): Faucet {
  const { wallet } = useWallet('ethereum');
  const invalidate = useInvalidate();
  const [state, setState] = useState({ isBusy: false, message: '' });
  const fund = async () => {
    if (wallet === undefined) return;
    setState({ isBusy: true, message: '' });
    try {
      for (const chain of chains) {
        const tokens = chain.tokens.filter(({ asset_id }) => assetIds.includes(asset_id));
        await fundWallet(chain, wallet.address, tokens);
      }
      invalidate('tokenBalance');
      setState({ isBusy: false, message: 'Test money added.' });
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
    }
  };
  return { ...state, canFund: wallet !== undefined && !state.isBusy, fund };
}

export function FaucetButton({ faucet: { canFund, isBusy, fund } }: { faucet: Faucet }) {
  return (
    <button type="button" className="button" disabled={!canFund} onClick={fund}>
      {isBusy ? 'Sending…' : 'Get test money'}
    </button>
  );
}

/** Gets test money for the connected wallet, in the offer's currencies. */
export function TestMoneyBar({ offer }: { offer: OfferDetails }) {
  const { config } = useApp();
  const { wallet } = useWallet('ethereum');
  const chains = config.chains.filter(({ chain }) =>
    offer.contracts.some((contract) => contract.chain === chain),
  );
  const assets = offer.funding_assets;
  const faucet = useFaucet(
    chains,
    assets.map(({ id }) => id),
  );
  if (chains.length === 0) return null;
  return (
    <aside className="faucet">
      <div>
        <strong>Test money</strong>
        <p className="soft">
          {wallet === undefined
            ? 'Connect a wallet to get test money.'
            : `${TOKENS_PER_REQUEST.toLocaleString('en')} ${assets.map(({ code }) => code).join(' and ')} on ${chains.map(({ chain }) => CHAINS[chain].name).join(' and ')}, plus gas.`}
        </p>
      </div>
      <FaucetButton faucet={faucet} />
      <p role="status" className="faucet-message">
        {faucet.message}
      </p>
    </aside>
  );
}
