import type { Offer, Page } from '@causeway/sdk';
import { SignInCard } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { loadJson } from '../config.ts';
import { usePlace, useTitle } from '../route.tsx';
import { TYPE_NAMES } from './offer-types.ts';

/** What `?causeway_error=` means to the one who comes back. */
const PROBLEMS: Record<string, string> = {
  access_denied:
    'You did not allow Harbour Invest to use your account, so nothing was shared. You can sign in again whenever you like.',
  unavailable: 'Causeway does not answer at the moment. Please try again in a minute.',
};
const OTHER_PROBLEM = 'The sign-in did not finish, perhaps because it took too long. Please start it again.';

export function LandingScreen({ returnTo = '/offers' }: { returnTo?: string }) {
  const { config } = useApp();
  const { query } = usePlace();
  const error = query.get('causeway_error');
  const user = config.sandbox_user;
  useTitle(undefined);
  return (
    <>
      <section className="hero">
        <div className="hero-text">
          <h1>
            Invest in what
            <br />
            you can see.
          </h1>
          <p>
            Buildings, funds and shares, a token at a time. Harbour Invest brings you the offers; your
            identity and your wallet stay yours.
          </p>
          <ul className="ticks">
            <li>One sign-in, one identity check</li>
            <li>You pay from your own wallet</li>
            <li>Every step can be followed on chain</li>
          </ul>
        </div>
        <div className="hero-card">
          {error !== null && (
            <div className="notice warn" role="alert">
              {PROBLEMS[error] ?? OTHER_PROBLEM}
            </div>
          )}
          <SignInCard title={returnTo === '/offers' ? 'Welcome' : 'Please sign in'} returnTo={returnTo}>
            You sign in with Causeway, which checks who you are once and keeps your documents.
          </SignInCard>
          {user !== null && (
            <dl className="sandbox-user">
              <div>
                <dt>Sandbox user</dt>
                <dd>
                  <code>{user.email}</code>
                </dd>
              </div>
              <div>
                <dt>Password</dt>
                <dd>
                  <code>{user.password}</code>
                </dd>
              </div>
              <p>Or register with any address: what it is sent is under Mail, at the top.</p>
            </dl>
          )}
        </div>
      </section>
      <OfferPreviews />
    </>
  );
}

/** What the partner may show to anybody; the server asks for it with its own credentials. */
function OfferPreviews() {
  const [offers, setOffers] = useState<readonly Offer[] | null>(null);
  useEffect(() => {
    loadJson<Page<Offer>>('/offers.json').then(
      ({ data }) => setOffers(data.filter(({ banner_url }) => banner_url !== null).slice(0, 3)),
      () => setOffers([]),
    );
  }, []);
  if (offers?.length === 0) return null;
  return (
    <section className="previews" aria-label="Some of the offers">
      {(offers ?? [null, null, null]).map((offer, index) => (
        <article className="preview" key={offer?.id ?? index}>
          {offer?.banner_url != null ? (
            <img src={offer.banner_url} alt="" width={1200} height={400} />
          ) : (
            <span className="bone picture" />
          )}
          <p className="preview-type">{offer === null ? '\u00a0' : TYPE_NAMES[offer.type].one}</p>
          <p className="preview-line">{offer?.tagline ?? '\u00a0'}</p>
        </article>
      ))}
    </section>
  );
}
