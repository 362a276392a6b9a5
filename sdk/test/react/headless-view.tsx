import { useEffect, useState } from 'react';
import type { TokenSaleOffer } from '../../src/index.ts';
import { useOffer, useParticipations, useTokenSale, useWallet } from '../../src/react/index.ts';

/**
 * Shows a token sale that uses only the hook, next to a list of participations. The list never polls.
 * `window.showOffer(slug)` passes another offer to the same component.
 */
export function Headless() {
  const [slug, setSlug] = useState('harbour-quarter');
  useEffect(() => {
    Object.assign(window, { showOffer: setSlug });
  }, []);
  const { data: current } = useOffer(slug);
  const { data: first } = useOffer('harbour-quarter');
  const offer = current ?? first;
  if (offer?.type !== 'platform::token_sale') return null;
  return (
    <>
      <HeadlessSale offer={offer} />
      <Beside />
    </>
  );
}

const onDone = () => {
  throw new Error('thrown by the test');
};

function HeadlessSale({ offer }: { offer: TokenSaleOffer }) {
  const optionId = offer.options.find(({ slug }) => slug === 'public')?.id;
  const sale = useTokenSale({ offer, optionId, onDone });
  const { amount, canBuy, buy, state, participation, unfinished, discard } = sale;
  const { wallet, connectors, connect } = useWallet('ethereum');
  const [connector] = connectors;
  return (
    <>
      <button type="button" hidden={wallet !== undefined} onClick={() => connector && connect(connector)}>
        Connect
      </button>
      <input
        aria-label="Dollars"
        value={amount.text}
        onChange={(event) => amount.setText(event.target.value)}
      />
      <button type="button" disabled={!canBuy} onClick={buy}>
        Buy
      </button>
      <button type="button" onClick={() => discard()}>
        Discard
      </button>
      <p id="offer">{offer.slug}</p>
      <p id="unfinished">{unfinished?.amount}</p>
      <p id="step">{state.step}</p>
      <p id="sale">{participation?.status}</p>
    </>
  );
}

function Beside() {
  const { data = [] } = useParticipations();
  const shown = data.map(({ amount_string, status }) => `${amount_string} ${status}`);
  return <p id="beside">{shown.join(', ')}</p>;
}
