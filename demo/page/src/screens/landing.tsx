import type { Offer, Page } from '@causeway/sdk';
import { SignInCard } from '@causeway/sdk/react';
import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { loadJson } from '../config.ts';
import { useLocation, useTitle } from '../route.tsx';
import { TYPE_LABELS } from './offer-types.ts';

/** Messages for the `causeway_error` query parameter after a failed sign-in. */
const SIGN_IN_ERRORS: Record<string, string> = {
  access_denied:
    "You didn't give Harbour Invest access to your account, so nothing was shared. You can sign in again any time.",
  unavailable: "Causeway isn't responding right now. Please try again in a minute.",
};
const OTHER_SIGN_IN_ERROR =
  "We couldn't finish signing you in. It may have taken too long. Please try again.";

export function LandingScreen({ returnTo = '/offers' }: { returnTo?: string }) {
  const { config } = useApp();
  const { query } = useLocation();
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
            Buildings, funds and shares, one token at a time. We bring you the offers. Your identity and your
            wallet stay yours.
          </p>
          <ul className="ticks">
            <li>One sign-in, one identity check</li>
            <li>Pay from your own wallet</li>
            <li>Follow every step on chain</li>
          </ul>
        </div>
        <div className="hero-card">
          {error !== null && (
            <div className="notice warn" role="alert">
              {SIGN_IN_ERRORS[error] ?? OTHER_SIGN_IN_ERROR}
            </div>
          )}
          <SignInCard title={returnTo === '/offers' ? 'Welcome' : 'Please sign in'} returnTo={returnTo}>
            Sign in with Causeway. It verifies your identity once and keeps your documents safe.
          </SignInCard>
          {user !== null && (
            <div className="sandbox-user">
              <dl>
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
              </dl>
              <p>Or register with any email address. Its messages appear under Mail and tools, at the top.</p>
            </div>
          )}
        </div>
      </section>
      <OfferPreviews />
    </>
  );
}

/** Shows offers to visitors. The server loads the offers with the partner's own credentials. */
function OfferPreviews() {
  const { offers, isFailing } = useOfferPreviews();
  if (offers?.length === 0) return null;
  return (
    <section aria-label="Featured offers">
      {isFailing && (
        <p className="notice warn previews-notice" role="alert">
          We can't load the offers right now. We'll keep trying.
        </p>
      )}
      <div className="previews">
        {(offers ?? [null, null, null]).map((offer, index) => (
          <PreviewCard key={offer?.id ?? index} offer={offer} />
        ))}
      </div>
    </section>
  );
}

const FIRST_RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 15_000;

/** Loads the offers. Retries until this succeeds. */
function useOfferPreviews() {
  const [state, setState] = useState({ offers: null as readonly Offer[] | null, isFailing: false });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isUnmounted = false;
    const load = async (retryDelayMs: number) => {
      try {
        const { data } = await loadJson<Page<Offer>>('/offers.json');
        const offers = data.filter(({ banner_url }) => banner_url !== null).slice(0, 3);
        if (!isUnmounted) setState({ offers, isFailing: false });
      } catch {
        if (isUnmounted) return;
        setState({ offers: null, isFailing: true });
        timer = setTimeout(load, retryDelayMs, Math.min(retryDelayMs * 2, MAX_RETRY_DELAY_MS));
      }
    };
    void load(FIRST_RETRY_DELAY_MS);
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
    };
  }, []);
  return state;
}

/** Links to the sign-in page. After sign-in, the browser opens the offer. */
function PreviewCard({ offer }: { offer: Offer | null }) {
  const card = (
    <>
      {offer?.banner_url != null ? (
        <img src={offer.banner_url} alt="" width={1200} height={400} />
      ) : (
        <span className="bone picture" />
      )}
      <p className="preview-type">{offer === null ? '\u00a0' : TYPE_LABELS[offer.type].singular}</p>
      <p className="preview-name">{offer === null ? '\u00a0' : (offer.summary?.name ?? offer.slug)}</p>
      <p className="preview-line">{offer?.tagline ?? '\u00a0'}</p>
    </>
  );
  if (offer === null) return <div className="preview">{card}</div>;
  const returnTo = encodeURIComponent(`/offers/${offer.slug}`);
  return (
    <a className="preview" href={`/causeway/sign-in?return_to=${returnTo}`}>
      {card}
    </a>
  );
}
