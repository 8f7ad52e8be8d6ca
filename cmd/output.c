/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sanitizing stream of stdout and stderr. A buffer can end inside a character or style: its
 * first bytes wait for the rest. JSON is written as ASCII, so nothing in a document is replaced. On
 * a terminal whose locale is not UTF-8, bytes 0x80-0x9f inside a character could act as C1
 * controls.
 */
#include "cmd/output.h"

#include <langinfo.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "profiles/base/text.h"
#include "profiles/qos.h"

#define KEYS_MAX 2048

static int output_flush(struct output *o)
{
	size_t at = 0;

	while (at < o->used) {
		ssize_t n = write(o->fd, o->chunk + at, o->used - at);

		if (n < 0) {
			o->used = 0;
			return -1;
		}
		at += (size_t)n;
	}
	o->used = 0;
	return 0;
}

static int output_add(struct output *o, const char *text, size_t size)
{
	if (o->used + size > sizeof(o->chunk) && output_flush(o))
		return -1;
	memcpy(o->chunk + o->used, text, size);
	o->used += size;
	return 0;
}

/* Adds the character, style or invalid byte at text. Returns its length, 0 if it can be incomplete,
 * -1 on a write error. */
static int output_step(struct output *o, const char *text, size_t size)
{
	size_t length = o->colour ? text_style_length(text, size) : 0;
	char safe[OUTPUT_HELD];
	bool style = length > 0;

	if (!length)
		length = text_character_length(text, size);
	if (length > size)
		return 0;
	if (!length)
		length = 1; /* not UTF-8 */
	if (style)
		memcpy(safe, text, length);
	else
		size = text_sanitize_bytes(safe, text, length, TEXT_BLOCK);
	if (!style && o->ascii && (safe[0] & 0x80)) {
		safe[0] = '?';
		size = 1;
	}
	return output_add(o, safe, style ? length : size) ? -1 : (int)length;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Returns true if all eight bytes are printable ASCII: none below ' ', no DEL, no upper bit. */
static bool output_word_is_plain(const char *text)
{
	uint64_t word, del;

	memcpy(&word, text, sizeof(word));
	del = word ^ 0x7f * EACH_BYTE;
	return !(((word - ' ' * EACH_BYTE) | word | (del - EACH_BYTE)) & 0x80 * EACH_BYTE);
}

static bool output_is_plain(uint8_t byte)
{
	return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
}

/* Fast path: length of the safe ASCII at the start of a text. */
static size_t output_plain(const char *text, size_t size)
{
	size_t at = 0;

	for (;;) {
		while (at + sizeof(uint64_t) <= size && output_word_is_plain(text + at))
			at += sizeof(uint64_t);
		if (at == size)
			return at;
		if (!output_is_plain((uint8_t)text[at]))
			return at;
		at++;
	}
}

/* Sanitizes complete characters. Returns the number of bytes consumed, or -1. */
static ssize_t output_sanitize(struct output *o, const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t left = size - at, most = left < OUTPUT_CHUNK ? left : OUTPUT_CHUNK;
		size_t plain = output_plain(text + at, most);
		int n;

		if (plain)
			n = output_add(o, text + at, plain) ? -1 : (int)plain;
		else
			n = output_step(o, text + at, size - at);
		if (n < 0)
			return -1;
		if (!n)
			break;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

/* Completes the held bytes with new ones. Returns the number of new bytes consumed, or -1. */
static ssize_t output_sanitize_held(struct output *o, const char *text, size_t size)
{
	size_t more = sizeof(o->tail) - o->held;
	ssize_t done;

	if (more > size)
		more = size;
	memcpy(o->tail + o->held, text, more);
	done = output_sanitize(o, o->tail, o->held + more);
	if (done < 0)
		return -1;
	if ((size_t)done < o->held) { /* still incomplete */
		memmove(o->tail, o->tail + done, o->held + more - (size_t)done);
		o->held += more - (size_t)done;
		return (ssize_t)more;
	}
	more = (size_t)done - o->held;
	o->held = 0;
	return (ssize_t)more;
}

static ssize_t output_write(void *cookie, const char *text, size_t size)
{
	struct output *o = cookie;
	size_t at = 0;
	ssize_t n;

	if (o->held) {
		n = output_sanitize_held(o, text, size);
		if (n < 0)
			return 0;
		at = (size_t)n;
	}
	if (at < size) {
		n = output_sanitize(o, text + at, size - at);
		if (n < 0)
			return 0;
		at += (size_t)n;
		o->held = size - at;
		memcpy(o->tail, text + at, o->held);
	}
	return output_flush(o) ? 0 : (ssize_t)size;
}

FILE *output_open(struct output *o, int fd)
{
	cookie_io_functions_t functions = {.write = output_write};
	bool terminal = isatty(fd);
	FILE *stream;

	o->fd = fd;
	o->ascii = terminal && strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	o->held = o->used = 0;
	stream = fopencookie(o, "w", functions);
	if (stream && fd == STDERR_FILENO)
		setvbuf(stream, NULL, _IONBF, 0);
	else if (stream)
		setvbuf(stream, NULL, terminal ? _IOLBF : _IOFBF, BUFSIZ);
	return stream;
}

unsigned int output_wrap(FILE *out, const char *text, unsigned int at, unsigned int indent,
			 unsigned int width)
{
	bool first = true;

	while (*text) {
		size_t word = strcspn(text, " "), blanks = strspn(text + word, " ");

		if (!first && at + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		first = false;
		fprintf(out, "%.*s", (int)word, text);
		at += word;
		text += word + blanks;
		/* The blanks go where the line is broken. */
		if (*text && at + blanks + strcspn(text, " ") <= width) {
			fprintf(out, "%*s", (int)blanks, "");
			at += blanks;
		} else if (*text) {
			at = width;
		}
	}
	return at;
}

void output_keys(FILE *out, unsigned int at, const char *head, uint64_t fields, const char *tail)
{
	char line[KEYS_MAX];
	size_t used = (size_t)snprintf(line, sizeof(line), "%s", head);

	for (int id = 0; id < QOS_FIELD_COUNT && used < sizeof(line); fields &= ~QOS_BIT(id++))
		if (fields & QOS_BIT(id))
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
						 qos_fields[id].key,
						 fields >> id > 1 ? ", " : tail);
	output_wrap(out, line, at, at + 2, OUTPUT_COLUMNS);
	fputc('\n', out);
}
