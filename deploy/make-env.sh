#!/bin/sh
# Writes .env for docker compose once, with fresh secrets. It never overwrites one: data sealed
# under the old secrets could not be read again.
set -eu
cd "$(dirname "$0")/.."
if [ -e .env ]; then
  echo ".env exists already; it is kept" >&2
  exit 1
fi
random() { openssl rand -hex 32; }
umask 077
cat > .env <<EOF
POSTGRES_PASSWORD=$(random)
CLICKHOUSE_PASSWORD=$(random)
CLICKHOUSE_READER_PASSWORD=$(random)
JWT_SECRET=$(random)
ACCESS_KEY_PEPPER=$(random)
ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)
PUBLIC_BASE_URL=http://localhost:8080
# Fill these in: who may enter the back office, and how mail is sent.
ADMIN_EMAILS=
SMTP_URL=
MAIL_FROM=
EOF
echo "wrote .env; fill in ADMIN_EMAILS, SMTP_URL and MAIL_FROM, then: docker compose up --build"
