import { CHAINS } from '@causeway/sdk';
import { useInvalidate, useWallet } from '@causeway/sdk/react';
import { useState } from 'react';
import { useApp } from '../app-context.tsx';
import { fundWallet, TOKENS_PER_REQUEST } from './faucet.ts';

/** Funds the connected wallets with dollars and gas, on every chain of their protocol. */
export function TestMoney() {
  const { config } = useApp();
  const wallets = { ethereum: useWallet('ethereum').wallet, solana: useWallet('solana').wallet };
  const invalidate = useInvalidate();
  const [state, setState] = useState({ isBusy: false, message: '' });
  const funded = config.chains.filter(({ chain }) => wallets[CHAINS[chain].protocol] !== undefined);
  const fund = async () => {
    setState({ isBusy: true, message: '' });
    try {
      await Promise.all(
        funded.map((chain) => fundWallet(chain, wallets[CHAINS[chain.chain].protocol]?.address ?? '')),
      );
      invalidate('tokenBalance');
      setState({ isBusy: false, message: 'Test money added.' });
    } catch (error) {
      setState({ isBusy: false, message: `That didn't work: ${(error as Error).message}` });
    }
  };
  return (
    <>
      <p className="soft">
        {funded.length === 0
          ? 'Connect a wallet to get test money.'
          : `${TOKENS_PER_REQUEST.toLocaleString('en')} USDC and USDT, plus gas, on ${funded.map(({ chain }) => CHAINS[chain].name).join(', ')}.`}
      </p>
      <button
        type="button"
        className="button small main"
        disabled={funded.length === 0 || state.isBusy}
        onClick={fund}
      >
        {state.isBusy ? 'Sending…' : 'Get test money'}
      </button>
      <p role="status" className="faucet-message">
        {state.message}
      </p>
    </>
  );
}
