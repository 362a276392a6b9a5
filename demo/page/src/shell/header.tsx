import { useApp } from '../app-context.tsx';
import { ListIcon, OffersIcon, WalletIcon } from '../icons.tsx';
import logo from '../images/icon.svg';
import { Link, useLocation } from '../route.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ThemeToggle } from './theme-toggle.tsx';
import { WalletButton } from './wallet-button.tsx';

export function Header() {
  const { session } = useApp();
  return (
    <header className="header">
      <div className="header-inner">
        <Link to={session.signed_in ? '/portfolio' : '/'} className="brand">
          <img src={logo} alt="" width={28} height={28} />
          <span>Harbour Invest</span>
        </Link>
        {session.signed_in && <Navigation />}
        <div className="header-end">
          {session.signed_in && <WalletButton />}
          <ThemeToggle />
          <AccountMenu />
        </div>
      </div>
    </header>
  );
}

/**
 * The links to the main pages, in the header or, on phones, at the bottom of the screen. The link to the offers is also
 * marked as current on an offer's page. The link to the portfolio is also marked as current on an order's page.
 */
function Navigation() {
  const { path } = useLocation();
  const currentUnder = (prefix: string) => (path.startsWith(prefix) ? { 'aria-current': true } : {});
  return (
    <nav className="navigation" aria-label="Main">
      <Link to="/portfolio" {...currentUnder('/orders/')}>
        <ListIcon /> <span>Portfolio</span>
      </Link>
      <Link to="/offers" {...currentUnder('/offers/')}>
        <OffersIcon /> <span>Offers</span>
      </Link>
      <Link to="/wallets">
        <WalletIcon /> <span>Wallets</span>
      </Link>
    </nav>
  );
}
