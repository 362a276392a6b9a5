import { useState } from 'react';
import type { FundSwapPhase } from '../../flows/fund-swap.ts';
import type { SwapResult } from '../../flows/outcome.ts';
import type { OfferDetails, SwapPreview } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import {
  useSwapOutputToken,
  useSwapPreview,
  useSwapStatus,
  useTokenBalance,
  useWalletAuthorization,
} from '../hooks/use-chain.ts';
import { type Place, usePlace } from '../hooks/use-deployment.ts';
import { useInvalidate } from '../hooks/use-query.ts';
import { useWallet } from '../hooks/use-wallet.ts';
import { Empty, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { AllowWalletPanel } from '../wallets/allow-wallet-panel.tsx';
import { AmountField, ChoiceField, PlaceFields, WalletField } from './checkout-fields.tsx';
import { CheckoutGate } from './checkout-gate.tsx';
import { FlowPanel } from './checkout-parts.tsx';
import { FundStopped, FundSummary, leastOf } from './fund-swap-parts.tsx';
import { FUND_SWAP_STEPS } from './phases.ts';
import { SwapDone } from './swap-done.tsx';
import { useAmount, useSettled } from './use-amount.ts';
import { useFlow } from './use-flow.ts';

export type FundSwapCheckoutProps = {
  offer: OfferDetails;
  /** Told when the swap is confirmed. */
  onDone?: ((result: SwapResult) => void) | undefined;
};

/**
 * Swapping into a fund: requirements, the allow-list, amount with a live preview, slippage, approval and swap.
 *
 * @example
 * ```tsx
 * import { FundSwapCheckout, useOffer } from '@causeway/sdk/react';
 *
 * function Swap() {
 *   const { data: offer } = useOffer('treasury-fund');
 *   return offer ? <FundSwapCheckout offer={offer} onDone={({ received }) => console.log(received)} /> : null;
 * }
 * ```
 */
export function FundSwapCheckout({ offer, onDone }: FundSwapCheckoutProps) {
  const option = offer.options[0];
  return (
    <section className="cw cw-card cw-checkout">
      <h2 className="cw-title">Swap into {offer.asset.code}</h2>
      {option === undefined ? (
        <Empty title="This fund is not open yet" />
      ) : (
        <CheckoutGate offer={offer} optionId={option.id}>
          <FundForm offer={offer} onDone={onDone} />
        </CheckoutGate>
      )}
    </section>
  );
}

function FundForm({ offer, onDone }: FundSwapCheckoutProps) {
  const choice = usePlace(offer);
  const { place } = choice;
  const { wallet } = useWallet('ethereum');
  const contract = place && { contract_address: place.contract.address, chain: place.chain };
  const status = useSwapStatus(contract, { every: 20_000 });
  const allowed = useWalletAuthorization(
    contract && wallet && { ...contract, wallet_address: wallet.address },
  );
  if (place === undefined) return <Empty title="This fund is not open on any network yet" />;
  const isStopped =
    status.data !== undefined && (BigInt(status.data.stopped) & BigInt(status.data.swap_level)) !== 0n;
  if (isStopped) return <FundStopped choice={choice} />;
  const error = status.error ?? allowed.error;
  return (
    <div className="cw-stack">
      {error !== undefined && status.data === undefined && (
        <ErrorNotice error={error} onRetry={() => void status.refresh()} />
      )}
      {wallet !== undefined && allowed.data?.authorized === true ? (
        <SwapForm key={`${place.chain} ${wallet.address}`} {...{ offer, choice, place, onDone }} />
      ) : (
        <>
          <PlaceFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          {wallet !== undefined && allowed.data === undefined && <Skeleton height="7em" />}
          {wallet !== undefined && allowed.data?.authorized === false && (
            <AllowWalletPanel {...{ offer, wallet }} chain={place.chain} />
          )}
        </>
      )}
    </div>
  );
}

const SLIPPAGES = [
  { value: '10', label: '0.1 %' },
  { value: '50', label: '0.5 %' },
  { value: '100', label: '1 %' },
] as const;

type FormProps = FundSwapCheckoutProps & { choice: ReturnType<typeof usePlace>; place: Place };

function SwapForm({ offer, choice, place, onDone }: FormProps) {
  const { wallet } = useWallet('ethereum');
  const [slippage, setSlippage] = useState('50');
  const [takesPart, setTakesPart] = useState(false);
  const { amount, limits, preview, output } = useFundNumbers(place, wallet?.address);
  const { run, swap } = useFundSwap(offer, place, onDone);
  if (run.state.step === 'done')
    return (
      <SwapDone
        result={run.state.result}
        paid={place}
        received={{
          code: output?.symbol ?? offer.asset.code,
          decimals: output?.decimals ?? offer.asset.fractional_digits,
        }}
        onAgain={() => {
          amount.setText('');
          run.reset();
        }}
      />
    );
  const isPartial =
    preview.data !== undefined &&
    amount.units !== null &&
    BigInt(preview.data.pay_input_amount) + BigInt(preview.data.fee) < amount.units;
  const canSwap = amount.units !== null && preview.data !== undefined && (!isPartial || takesPart);
  const begin = () => {
    if (amount.units === null || preview.data === undefined) return;
    swap({
      units: amount.units,
      slippageBps: Number(slippage),
      allowPartial: takesPart,
      preview: preview.data,
    });
  };
  return (
    <form
      className="cw-stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSwap) begin();
      }}
    >
      {run.state.step === 'idle' && (
        <>
          <PlaceFields choice={choice} disabled={false} />
          <WalletField wallet={wallet} disabled={false} />
          <AmountField {...{ amount, limits }} hasWallet disabled={false} />
          <ChoiceField
            label="Slippage"
            hint="How much less than the preview you accept."
            value={slippage}
            choices={SLIPPAGES}
            disabled={false}
            onChange={setSlippage}
          />
          <FundSummary {...{ offer, place, output, slippage: Number(slippage) }} preview={preview.data} />
          {preview.error !== undefined && (
            <ErrorNotice error={preview.error} onRetry={() => void preview.refresh()} />
          )}
          {isPartial && (
            <label className="cw-check">
              <input
                type="checkbox"
                checked={takesPart}
                onChange={(event) => setTakesPart(event.target.checked)}
              />
              The fund can take only a part of this now. Swap that part.
            </label>
          )}
          <button type="submit" className="cw-button cw-button-main cw-button-wide" disabled={!canSwap}>
            Swap
          </button>
        </>
      )}
      <FlowPanel run={run} steps={FUND_SWAP_STEPS} onRetry={begin} />
    </form>
  );
}

function useFundNumbers(place: Place, owner: string | undefined) {
  const { chain, token, decimals, code } = place;
  const contract = { contract_address: place.contract.address, chain };
  const { data: held } = useTokenBalance(
    owner === undefined ? null : { token_address: token, owner, chain },
    {
      every: 15_000,
    },
  );
  const limits = { decimals, code, balance: held === undefined ? undefined : BigInt(held.balance) };
  const amount = useAmount(limits);
  const settled = useSettled(amount.units?.toString());
  const preview = useSwapPreview(
    settled === undefined ? null : { ...contract, input_token: token, amount: settled },
    {
      every: 10_000,
    },
  );
  const output = useSwapOutputToken(contract).data;
  const isSettled = settled === amount.units?.toString();
  return {
    amount,
    limits,
    output,
    preview: isSettled ? preview : { ...preview, data: undefined, error: undefined },
  };
}

type Swap = { units: bigint; slippageBps: number; allowPartial: boolean; preview: SwapPreview };

function useFundSwap(
  offer: OfferDetails,
  { chain, assetId }: Place,
  onDone: FundSwapCheckoutProps['onDone'],
) {
  const causeway = useCauseway();
  const invalidate = useInvalidate();
  const { wallet } = useWallet('ethereum');
  const run = useFlow<FundSwapPhase, SwapResult>();
  const swap = ({ units, slippageBps, allowPartial, preview }: Swap) => {
    if (wallet === undefined) return;
    run.start(async (flows, options) => {
      const input = {
        ...{ offer, chain, wallet, assetId, amount: units, slippageBps, allowPartial },
        // What the user has seen holds, however long the approval takes.
        minReceive: leastOf(preview, slippageBps),
      };
      const result = await flows.swapFund(causeway, input, options);
      invalidate('tokenBalance', 'tokenAllowance', 'swapPreview');
      onDone?.(result);
      return result;
    });
  };
  return { run, swap };
}
