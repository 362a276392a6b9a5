import { ParticipationsList, useOffers } from '@causeway/sdk/react';
import { Link, useTitle } from '../route.tsx';

export function ParticipationsScreen() {
  const { data: offers } = useOffers();
  useTitle('Investments');
  return (
    <>
      <div className="screen-head">
        <h1>Investments</h1>
        <p className="soft">
          Your token sale investments and their status. Funds and tokenized assets are in your wallet.
        </p>
      </div>
      <ParticipationsList
        hrefOf={(offerId) => `/offers/${offers?.find(({ id }) => id === offerId)?.slug ?? offerId}`}
        empty={
          <>
            You haven't invested yet. <Link to="/offers">Browse offers</Link>
          </>
        }
      />
    </>
  );
}
