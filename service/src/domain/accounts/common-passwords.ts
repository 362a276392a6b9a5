/** The most common passwords that have an allowed length, in lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  !qaz2wsx3edc 0123456789 0987654321 1122334455 11223344556 123123123123 1231231234 123321123321 1234512345
  1234567890 1234567891 12345678910 123456789a 1472583690 147258369a 159753456a 1q2w3e4r5t 1q2w3e4r5t6y
  1qaz2wsx3edc 1qaz@wsx3edc 7894561230 789456123a 9876543210 a123456789 a1234567890 aa123456789 abc1234567
  abc123456789 abcd123456 abcdefghij abcdefghijk access12345 admin12345 admin123456 administrator
  administrator1 america123 arsenal1234 asdasdasd123 asdfghjkl1 asdfghjkl123 asdfghjkl; ashley12345
  autumn2025! bailey12345 barcelona123 baseball123 basketball batman12345 bitcoin123 causeway123
  changeme123 changeme123! charlie123 cheese12345 chelsea1234 computer123 cookie12345
  correcthorsebatterystaple default123 dragon12345 ethereum123 facebook123 football123 freedom123
  ginger12345 google12345 guest12345 hello12345 hello123456 helloworld helloworld1 helloworld123
  hunter12345 iloveyou12 iloveyou123 iloveyou1234 iloveyouforever internet123 investment1 investor123
  iphone12345 jennifer123 jordan12345 killer12345 letmein123 letmein1234 linkedin123 liverpool123
  london12345 manchester1 master12345 matrix12345 michael123 minecraft123 monkey12345 mustang123 mypassword
  mypassword1 mypassword123 newyork123 nopassword p@ssw0rd123 p@ssword123 passw0rd123 password1! password12
  password123 password123! password1234 password12345 password2024 password2025 password2026
  passwordpassword pepper12345 pokemon1234 princess123 qazwsxedc123 qazwsxedcrfv qwe123qwe123 qweasdzxc123
  qwerty123! qwerty1234 qwerty12345 qwerty123456 qwertyuiop qwertyuiop123 qwertyuiopasdfghjkl samsung123
  satoshi123 secret12345 shadow12345 spring2025! starwars123 summer2024! summer2025! summer2026!
  sunshine123 superman123 temp123456 test123456 testtest123 testtest1234 thepassword thisispassword
  trustno1234 welcome123 welcome123! welcome1234 whatever123 winter2024! winter2025! winter2026!
  yourpassword zxcvbnm123 zxcvbnm1234
`
    .trim()
    .split(/\s+/),
);
