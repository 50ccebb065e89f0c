/**
 * A Kerberos realm for one cluster, keys for its web servers, and Hadoop's shuffle without native
 * code.
 */
package org.howdah.security;
