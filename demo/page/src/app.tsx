import { ErrorNotice } from '@causeway/sdk/react';
import { Component, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { useApp } from './app-context.tsx';
import { matchPath, navigate, useLocation } from './route.tsx';
import { openPanel } from './sandbox/panel-state.ts';
import { LandingScreen } from './screens/landing.tsx';
import { OffersScreen } from './screens/offers.tsx';
import { OfflineBanner, SandboxBanner } from './shell/banners.tsx';
import { DeveloperDrawer } from './shell/developer-drawer.tsx';
import { Header } from './shell/header.tsx';
import { ApprovalDialog } from './wallets/approval-dialog.tsx';

const OfferScreen = lazy(async () => ({ default: (await import('./screens/offer.tsx')).OfferScreen }));
const InvestScreen = lazy(async () => ({ default: (await import('./screens/invest.tsx')).InvestScreen }));
const PortfolioScreen = lazy(async () => ({
  default: (await import('./screens/portfolio.tsx')).PortfolioScreen,
}));
const OrderScreen = lazy(async () => ({ default: (await import('./screens/order.tsx')).OrderScreen }));
const WalletsScreen = lazy(async () => ({ default: (await import('./screens/wallets.tsx')).WalletsScreen }));

export function App() {
  const { path } = useLocation();
  const { config } = useApp();
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <SandboxBanner />
      <Header />
      <OfflineBanner />
      <main className="page" id="main" tabIndex={-1}>
        <ErrorBoundary key={path}>
          <Suspense fallback={<ScreenSkeleton />}>
            <Screen path={path} />
          </Suspense>
        </ErrorBoundary>
      </main>
      <footer className="footer">
        <p>
          Harbour Invest is a demo built on <code>@causeway/sdk</code>. Nothing here is an offer of
          securities.
        </p>
      </footer>
      <DeveloperDrawer />
      {config.is_sandbox && <ApprovalDialog />}
    </>
  );
}

function Screen({ path }: { path: string }): ReactNode {
  const { session, config } = useApp();
  if (path === '/') return session.signed_in ? <Redirect to="/portfolio" /> : <LandingScreen />;
  if (config.is_sandbox && path === '/mail') return <MailLink />;
  const screen = userScreen(path);
  if (screen === null) return <NotFound />;
  return session.signed_in ? screen : <LandingScreen returnTo={path} />;
}

function userScreen(path: string): ReactNode {
  if (path === '/offers') return <OffersScreen />;
  const offer = matchPath('/offers/:slug', path);
  if (offer?.slug !== undefined) return <OfferScreen slug={offer.slug} />;
  const invest = matchPath('/offers/:slug/invest', path);
  if (invest?.slug !== undefined) return <InvestScreen slug={invest.slug} />;
  if (path === '/portfolio') return <PortfolioScreen />;
  if (matchPath('/orders/:kind/:id', path) !== null) return <OrderScreen path={path} />;
  return path === '/wallets' ? <WalletsScreen /> : null;
}

function Redirect({ to }: { to: string }) {
  useEffect(() => navigate(to, { replace: true }), [to]);
  return null;
}

/**
 * The screen at `/mail`, to which the service's pages link, for example the "Check your email" page. Opens the sandbox
 * panel, which contains the mailbox.
 */
function MailLink() {
  useEffect(() => {
    openPanel();
    navigate('/', { replace: true });
  }, []);
  return null;
}

function NotFound() {
  return (
    <div className="empty-state">
      <h1>Page not found</h1>
      <p>
        This link may be out of date. <a href="/offers">Browse offers</a>
      </p>
    </div>
  );
}

export function ScreenSkeleton() {
  return (
    <div className="screen-skeleton" role="status" aria-label="Loading">
      <span className="bone title" />
      <span className="bone" />
      <span className="bone wide" />
    </div>
  );
}

/** Catches errors from a screen, so that the rest of the page keeps working. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <ErrorNotice error={this.state.error} onRetry={() => location.reload()} retryLabel="Reload" />;
  }
}
