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

export function useFaucet() {
  const [state, setState] = useState<{ isBusy: boolean; message: string }>({ isBusy: false, message: '' });
  const invalidate = useInvalidate();
  const fund = async (chains: readonly ChainConfig[], address: string, assetIds: readonly string[]) => {
    setState({ isBusy: true, message: '' });
    try {
      for (const chain of chains)
        await fundWallet(
          chain,
          address,
          chain.tokens.filter(({ asset_id }) => assetIds.includes(asset_id)),
        );
      invalidate('tokenBalance');
      setState({ isBusy: false, message: 'Test money added.' });
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
    }
  };
  return { ...state, fund };
}

/** Gets test money for the connected wallet, in the offer's currencies. */
export function TestMoneyBar({ offer }: { offer: OfferDetails }) {
  const { config } = useApp();
  const { wallet } = useWallet('ethereum');
  const { isBusy, message, fund } = useFaucet();
  const chains = config.chains.filter(({ chain }) =>
    offer.contracts.some((contract) => contract.chain === chain),
  );
  const assets = offer.funding_assets;
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
      <button
        type="button"
        className="button"
        disabled={wallet === undefined || isBusy}
        onClick={() =>
          wallet &&
          fund(
            chains,
            wallet.address,
            assets.map(({ id }) => id),
          )
        }
      >
        {isBusy ? 'Sending…' : 'Get test money'}
      </button>
      <p role="status" className="faucet-message">
        {message}
      </p>
    </aside>
  );
}
