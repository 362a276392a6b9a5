import type { Catalogue } from './catalogue.ts';

const NOT_YOU = 'Wenn Sie das nicht waren, können Sie diese E-Mail ignorieren.';

const date = (time: number) =>
  new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'UTC' }).format(time);
const dateTime = (time: number) =>
  `${new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(time)} Uhr (UTC)`;

export const de: Catalogue = {
  unsubscribe: 'Solche E-Mails abbestellen',
  messages: {
    confirm_email: ({ url }) => ({
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      before: [
        'Willkommen bei Causeway.',
        'Bestätigen Sie Ihre E-Mail-Adresse, um Ihr Konto fertig einzurichten.',
      ],
      link: { label: 'E-Mail-Adresse bestätigen', url },
      after: [
        'Der Link funktioniert einmal und läuft nach 24 Stunden ab.',
        'Wenn Sie sich nicht registriert haben, können Sie diese E-Mail ignorieren. Es wird kein Konto angelegt.',
      ],
    }),
    known_address: ({ url, forgotUrl }) => ({
      subject: 'Sie haben bereits ein Konto',
      before: [
        'Jemand, vermutlich Sie, wollte mit dieser E-Mail-Adresse ein Konto anlegen. Sie haben bereits eines.',
      ],
      link: { label: 'Anmelden', url },
      after: [`Passwort vergessen? Legen Sie ein neues fest: ${forgotUrl}`, NOT_YOU],
    }),
    reset_password: ({ url }) => ({
      subject: 'Neues Passwort festlegen',
      before: ['Legen Sie ein neues Passwort für Ihr Konto fest.'],
      link: { label: 'Passwort festlegen', url },
      after: [
        'Der Link funktioniert einmal und läuft nach einer Stunde ab. Ein neues Passwort meldet Sie überall ab und trennt alle Apps.',
        'Wenn Sie das nicht angefordert haben, können Sie diese E-Mail ignorieren. Ihr Passwort bleibt unverändert.',
      ],
    }),
    unknown_address: ({ url }) => ({
      subject: 'Zu dieser E-Mail-Adresse gibt es kein Konto',
      before: [
        'Jemand, vermutlich Sie, wollte ein Passwort zurücksetzen, aber zu dieser E-Mail-Adresse gibt es kein Konto.',
        'Vielleicht haben Sie sich mit einer anderen Adresse registriert. Sie können auch ein Konto anlegen.',
      ],
      link: { label: 'Konto anlegen', url },
      after: [NOT_YOU],
    }),
    password_changed: ({ url }) => ({
      subject: 'Ihr Passwort wurde geändert',
      before: [
        'Ihr Passwort wurde geändert. Wir haben Sie überall abgemeldet und alle Apps getrennt.',
        'Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest, melden Sie sich an und prüfen Sie Ihre Passkeys.',
      ],
      link: { label: 'Passwort festlegen', url },
    }),
    passkey_added: ({ url }) => ({
      subject: 'Ihrem Konto wurde ein Passkey hinzugefügt',
      before: [
        'Ihrem Konto wurde ein Passkey hinzugefügt. Damit kann man sich ohne Ihr Passwort anmelden.',
        'Wenn Sie das nicht waren, entfernen Sie den Passkey und ändern Sie jetzt Ihr Passwort.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    password_replaced: ({ url }) => ({
      subject: 'Ihr Passwort wurde geändert',
      before: [
        'Sie haben Ihr Passwort geändert. Wir haben Sie in allen anderen Browsern abgemeldet.',
        'Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest: Das meldet alle Browser ab und trennt alle Apps.',
      ],
      link: { label: 'Passwort festlegen', url },
    }),
    second_factor_added: ({ url }) => ({
      subject: 'Die Anmeldung in zwei Schritten ist aktiv',
      before: [
        'Ab jetzt gehört zur Anmeldung mit Passwort auch ein Code aus Ihrer Authenticator-App.',
        'Bewahren Sie Ihre Wiederherstellungscodes sicher auf.',
        'Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest: Das meldet alle Browser ab und trennt alle Apps. Wenden Sie sich danach an den Support, der die Anmeldung in zwei Schritten abschalten kann.',
      ],
      link: { label: 'Passwort festlegen', url },
    }),
    second_factor_removed: ({ url }) => ({
      subject: 'Die Anmeldung in zwei Schritten ist abgeschaltet',
      before: [
        'Zur Anmeldung gehört kein Code aus Ihrer Authenticator-App mehr.',
        'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort und schalten Sie die Anmeldung in zwei Schritten wieder ein.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    confirm_new_address: ({ url }) => ({
      subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
      before: [
        'Bestätigen Sie, dass Sie diese E-Mail-Adresse für Ihr Konto verwenden möchten. Öffnen Sie den Link in einem Browser, in dem Sie angemeldet sind.',
      ],
      link: { label: 'Neue Adresse bestätigen', url },
      after: ['Der Link funktioniert einmal und läuft nach einer Stunde ab.', NOT_YOU],
    }),
    address_in_use: ({ url }) => ({
      subject: 'Diese E-Mail-Adresse hat bereits ein Konto',
      before: [
        'Jemand, vermutlich Sie, wollte diese E-Mail-Adresse für ein anderes Konto verwenden. Sie gehört bereits zu Ihrem Konto, daher ändert sich nichts.',
      ],
      link: { label: 'Ihr Konto', url },
      after: [NOT_YOU],
    }),
    address_change_requested: ({ url }) => ({
      subject: 'Ihre E-Mail-Adresse soll geändert werden',
      before: [
        'Sie möchten die E-Mail-Adresse Ihres Kontos ändern. Sie ändert sich, sobald Sie die neue Adresse bestätigen.',
        'Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest: Das verhindert die Änderung und meldet alle Browser ab.',
      ],
      link: { label: 'Passwort festlegen', url },
    }),
    address_changed: ({ url, email }) => ({
      subject: 'Ihre E-Mail-Adresse wurde geändert',
      before: [
        `Ihr Konto verwendet jetzt ${email}. An Ihre bisherige Adresse senden wir keine E-Mails mehr.`,
        'Wenn Sie das nicht waren, wenden Sie sich sofort an den Support.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    account_deleted: ({ at }) => ({
      subject: 'Ihr Konto wurde gelöscht',
      before: [
        `Wir haben Ihr Konto am ${dateTime(at)} gelöscht und alle Apps getrennt.`,
        'Wir bewahren nur auf, was das Gesetz verlangt, und niemand verwendet es für etwas anderes.',
      ],
    }),
    wallet_disconnected: ({ url, wallet }) => ({
      subject: 'Eine Wallet wurde von Ihrem Konto getrennt',
      before: [
        `Ihre Wallet ${wallet} wurde von Ihrem Konto getrennt, weil ein anderes Konto nachgewiesen hat, dass sie ihm gehört.`,
        'Wenn die Wallet Ihnen gehört, verbinden Sie sie in der App erneut. Wenn Sie das nicht erwartet haben, kennt vielleicht jemand anderes den Schlüssel Ihrer Wallet: Übertragen Sie Ihr Guthaben auf eine neue Wallet.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    signed_in: ({ url, at }) => ({
      subject: 'Neue Anmeldung bei Ihrem Konto',
      before: [
        `Ihr Konto wurde am ${dateTime(at)} in einem neuen Browser verwendet.`,
        'Wenn Sie das waren, müssen Sie nichts tun. Andernfalls legen Sie jetzt ein neues Passwort fest: Das meldet alle Browser ab.',
      ],
      link: { label: 'Passwort festlegen', url },
    }),
    review_approved: ({ url, isAccreditation }) => ({
      subject: isAccreditation ? 'Ihre Akkreditierung ist bestätigt' : 'Ihre Identität ist bestätigt',
      before: [
        isAccreditation
          ? 'Wir haben Ihre Akkreditierung bestätigt.'
          : 'Wir haben Ihre Identität geprüft und bestätigt.',
        'Sie können in Ihrer App weitermachen.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    review_action_needed: ({ url, isAccreditation }) => ({
      subject: isAccreditation
        ? 'Ihre Akkreditierung braucht noch etwas von Ihnen'
        : 'Ihre Identitätsprüfung braucht noch etwas von Ihnen',
      before: ['Wir brauchen noch etwas von Ihnen. Öffnen Sie Ihre App, um zu sehen, was fehlt.'],
      link: { label: 'Ihr Konto', url },
    }),
    review_rejected: ({ url, isAccreditation }) => ({
      subject: isAccreditation
        ? 'Ihre Akkreditierung wurde nicht bestätigt'
        : 'Ihre Identität wurde nicht bestätigt',
      before: [
        isAccreditation
          ? 'Wir konnten Ihre Akkreditierung nicht bestätigen.'
          : 'Wir konnten Ihre Identität nicht bestätigen.',
        'Bei Fragen wenden Sie sich bitte an den Support.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    participation_pending: ({ url, offer, partner, amount, asset }) => ({
      subject: `Ihre Anlage in ${offer} wurde angenommen`,
      before: [
        `Wir haben Ihre Anlage von ${amount} ${asset} in ${offer} bei ${partner} angenommen. Ihr Geld bleibt in Ihrer Wallet, bis der Verkauf es einzieht.`,
        'Wir schreiben Ihnen, sobald die Anlage abgeschlossen ist.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    participation_completed: ({ url, offer, partner, amount, asset }) => ({
      subject: `Ihre Anlage in ${offer} ist abgeschlossen`,
      before: [`Ihre Anlage von ${amount} ${asset} in ${offer} bei ${partner} ist abgeschlossen.`],
      link: { label: 'Ihr Konto', url },
    }),
    participation_failed: ({ url, offer, partner, amount, asset }) => ({
      subject: `Ihre Anlage in ${offer} kam nicht zustande`,
      before: [
        `Ihre Anlage von ${amount} ${asset} in ${offer} bei ${partner} kam nicht zustande. Es wurde kein Geld eingezogen.`,
        'Sie können es in Ihrer App erneut versuchen.',
      ],
      link: { label: 'Ihr Konto', url },
    }),
    participation_remitted: ({ url, offer, partner, amount, asset }) => ({
      subject: `Ihre Anlage in ${offer} wurde erstattet`,
      before: [
        `Wir haben Ihre Anlage von ${amount} ${asset} in ${offer} bei ${partner} erstattet. Das Geld ist wieder in Ihrer Wallet.`,
      ],
      link: { label: 'Ihr Konto', url },
    }),
    form_to_sign: ({ url, until }) => ({
      subject: 'Ein Steuerformular wartet auf Ihre Unterschrift',
      before: [
        `Ein Steuerformular liegt zur Unterschrift bereit. Der Link steht in einer eigenen E-Mail unseres Signaturdienstes und funktioniert bis zum ${date(until)}.`,
      ],
      link: { label: 'Ihr Konto', url },
    }),
    form_link_expiring: ({ url, until }) => ({
      subject: 'Ihr Steuerformular ist noch nicht unterschrieben',
      before: [
        `Der Link zum Unterschreiben funktioniert bis zum ${date(until)}. Danach müssen Sie in Ihrer App neu beginnen.`,
      ],
      link: { label: 'Ihr Konto', url },
    }),
    form_expiring: ({ url, until }) => ({
      subject: 'Ihr Steuerformular läuft bald ab',
      before: [
        `Ihr unterschriebenes Steuerformular gilt bis zum ${date(until)}. Öffnen Sie Ihre App, um ein neues zu unterschreiben.`,
      ],
      link: { label: 'Ihr Konto', url },
    }),
    accreditation_expiring: ({ url, until }) => ({
      subject: 'Ihre Akkreditierung läuft bald ab',
      before: [`Ihre Akkreditierung gilt bis zum ${date(until)}. Öffnen Sie Ihre App, um sie zu erneuern.`],
      link: { label: 'Ihr Konto', url },
    }),
  },
};
